import type { RequestKind } from './requests.ts';
import { type Report, table } from './results.ts';
import { type Columns, decimal, median, ratios, type Series, spread } from './rounds.ts';
import { type Contestant, contestants } from './servers.ts';
import { busy, type Turn } from './turns.ts';
import type { StoreKind } from './workspace.ts';

type ByContestant<Figure extends string> = Readonly<Record<Contestant, Columns<Figure>>>;

/** One request on one store, from so many connections. */
export interface Cell {
  readonly store: StoreKind;
  readonly request: RequestKind;
  readonly connections: number;
  readonly turns: ByContestant<keyof Turn>;
}

/** How the servers start on a store. */
export interface Starts {
  readonly store: StoreKind;
  readonly starts: ByContestant<'startMs' | 'idleMiB'>;
}

/** What the project holds a run to: processor time of bare `node:http` by that of Rostrum. */
const leastOfBare: Record<StoreKind, Record<RequestKind, number>> = {
  memory: { GET: 0.6, page: 0.8, POST: 0.5 },
  SQLite: { GET: 0.7, page: 0.95, POST: 0.7 },
  MongoDB: { GET: 2, page: 0.75, POST: 1.5 },
};

/** The tables and data of the measurement, with the targets beside the ratios. */
export function reportHttp(cells: readonly Cell[], starts: readonly Starts[]): Report {
  const busyCells = cells.filter(({ connections }) => connections === busy);
  const targets = new Targets();
  const processor = busyCells.map(({ store, request, turns }) => {
    const { bare, Fastify, Koa, Rostrum } = turns;
    const toFastify = ratios(Fastify.cpuUs, Rostrum.cpuUs);
    return [
      ...[store, request],
      ...[bare, Fastify, Koa, Rostrum].map(({ cpuUs }) => spread(cpuUs, 0)),
      targets.held(ratios(bare.cpuUs, Rostrum.cpuUs), '≥', leastOfBare[store][request]),
      targets.held(toFastify, '>', 1),
      spread(ratios(Koa.cpuUs, Rostrum.cpuUs), 2),
    ];
  });
  const served = cells.map(({ store, request, connections, turns }) => {
    const all = (figure: keyof Turn, digits: number) =>
      contestants.map((name) => decimal(median(turns[name][figure]), digits)).join(' / ');
    const rate = ratios(turns.Rostrum.rate, turns.bare.rate);
    const p99 = ratios(turns.Rostrum.p99Ms, turns.bare.p99Ms);
    return [
      ...[store, request, String(connections), all('rate', 0)],
      spread(rate, 2),
      ...[all('p50Ms', 2), all('p99Ms', 2)],
      spread(p99, 2),
    ];
  });
  const memory = starts.flatMap(({ store, starts }) =>
    contestants.map((name) => {
      const { startMs, idleMiB } = starts[name];
      const reads = busyCells.filter((cell) => cell.store === store && cell.request !== 'POST');
      const busyMiB = Math.max(...reads.flatMap(({ turns }) => turns[name].rssMiB));
      return { store, name, startMs, idleMiB: median(idleMiB), busyMiB };
    }),
  );
  const order = contestants.join(' / ');
  const client = cells.flatMap((cell) => contestants.flatMap((n) => cell.turns[n].clientBusy));

  return {
    markdown: [
      `Processor time of the server for a request at ${busy} connections, in microseconds:`,
      table([...['store', 'request'], ...contestants, ...processorRatios], processor),
      `Requests a second, and milliseconds until a response is there (${order}):`,
      table(['store', 'request', 'connections', ...servedFigures], served),
      'Start-up in milliseconds, and memory (RSS) in MiB when idle and when serving reads:',
      table(
        ['store', 'server', 'start-up', 'idle', 'busy'],
        memory.map(({ store, name, startMs, idleMiB, busyMiB }) => {
          return [store, name, spread(startMs, 0), decimal(idleMiB, 0), decimal(busyMiB, 0)];
        }),
      ),
      `The client used ${decimal(Math.max(...client) * 100, 0)} % of a core at most.`,
      targets.summary(),
    ].join('\n\n'),
    data: { cells, starts },
  };
}

const processorRatios = ['bare / Rostrum', 'Fastify / Rostrum', 'Koa / Rostrum'];
const servedFigures = ['requests/s', 'Rostrum / bare', 'p50', 'p99', 'p99 Rostrum / bare'];

class Targets {
  #all = 0;
  #missed = 0;

  /** Returns a ratio beside its target. */
  held(series: Series, sign: '≥' | '>', target: number): string {
    const value = median(series);
    const isMet = sign === '≥' ? value >= target : value > target;
    this.#all++;
    if (!isMet) this.#missed++;
    return `${spread(series, 2)} ${isMet ? '' : 'not '}${sign} ${target}`;
  }

  summary(): string {
    if (this.#missed === 0) return 'Every target is met.';
    return `${this.#missed} of ${this.#all} targets are missed: those with "not" in the first table.`;
  }
}
