import { type Bar, barChart } from './chart.ts';
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
  memory: { GET: 0.65, page: 0.9, POST: 0.65 },
  SQLite: { GET: 0.8, page: 0.95, POST: 0.8 },
  MongoDB: { GET: 0.75, page: 0.75, POST: 0.75 },
};

/** Rostrum's p99 by bare's, in every cell. */
const mostP99 = 2;

/** Requests a second of bare's: durable POSTs on SQLite from many connections. */
const leastDurable = 0.7;

/** The tables, charts and data of the measurement, with the targets beside the ratios. */
export function reportHttp(cells: readonly Cell[], starts: readonly Starts[]): Report {
  const busyCells = cells.filter(({ connections }) => connections === busy);
  const targets = new Targets();
  const processor = busyCells.map(({ store, request, turns: { bare, Fastify, Rostrum } }) => {
    const what = `processor time, ${store}, ${request}`;
    const toFastify = ratios(Fastify.cpuUs, Rostrum.cpuUs);
    return [
      ...[store, request],
      ...[bare, Fastify, Rostrum].map(({ cpuUs }) => spread(cpuUs, 0)),
      targets.held(what, ratios(bare.cpuUs, Rostrum.cpuUs), '≥', leastOfBare[store][request]),
      store === 'MongoDB'
        ? spread(toFastify, 2)
        : targets.held(`${what}, Fastify / Rostrum`, toFastify, '>', 1),
    ];
  });
  const served = cells.map(({ store, request, connections, turns }) => {
    const all = (figure: keyof Turn, digits: number) =>
      contestants.map((name) => decimal(median(turns[name][figure]), digits)).join(' / ');
    const what = `${store}, ${request}, connections: ${connections}`;
    const rate = ratios(turns.Rostrum.rate, turns.bare.rate);
    const p99 = ratios(turns.Rostrum.p99Ms, turns.bare.p99Ms);
    const isDurable = what === `SQLite, POST, connections: ${busy}`;
    return [
      ...[store, request, String(connections), all('rate', 0)],
      isDurable ? targets.held(`rate, ${what}`, rate, '≥', leastDurable) : spread(rate, 2),
      ...[all('p50Ms', 2), all('p99Ms', 2)],
      targets.held(`p99, ${what}`, p99, '≤', mostP99),
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
      '![Bars of the processor time for a request](benchmarks/processor-time.svg)',
      table([...['store', 'request'], ...contestants, ...processorRatios], processor),
      `Requests a second, and milliseconds until a response is there (${order}):`,
      `![Bars of the latency at ${busy} connections](benchmarks/latency.svg)`,
      table(['store', 'request', 'connections', ...servedFigures], served),
      'Start-up in milliseconds, and memory (RSS) in MiB when idle and when serving reads:',
      '![Bars of the memory](benchmarks/memory.svg)',
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
    charts: {
      'processor-time': barChart(
        `Processor time for a request, ${busy} connections (less is better)`,
        'µs',
        bars(busyCells, ({ cpuUs }) => [cpuUs, cpuUs]),
      ),
      latency: barChart(
        `Latency, ${busy} connections: p50 dark, p99 light (less is better)`,
        'ms',
        bars(busyCells, ({ p50Ms, p99Ms }) => [p50Ms, p99Ms]),
      ),
      memory: barChart(
        'Memory: idle dark, serving reads light (less is better)',
        'MiB',
        memory.map(({ store, name, idleMiB, busyMiB }) => {
          return { panel: store, group: '', name, dark: idleMiB, light: busyMiB };
        }),
      ),
    },
  };
}

const processorRatios = ['bare / Rostrum', 'Fastify / Rostrum'];
const servedFigures = ['requests/s', 'Rostrum / bare', 'p50', 'p99', 'p99 Rostrum / bare'];

type Figures = Cell['turns'][Contestant];

function bars(cells: readonly Cell[], pair: (figures: Figures) => [Series, Series]): Bar[] {
  return cells.flatMap(({ store, request, turns }) =>
    contestants.map((name) => {
      const [dark, light] = pair(turns[name]);
      return { panel: store, group: request, name, dark: median(dark), light: median(light) };
    }),
  );
}

class Targets {
  readonly #missed: string[] = [];

  /** A ratio beside what it should be. */
  held(what: string, series: Series, sign: '≥' | '≤' | '>', target: number): string {
    const value = median(series);
    const isMet = { '≥': value >= target, '≤': value <= target, '>': value > target }[sign];
    if (!isMet) this.#missed.push(`- ${what}: ${decimal(value, 2)} is not ${sign} ${target}`);
    return `${spread(series, 2)} ${isMet ? '' : 'not '}${sign} ${target}`;
  }

  summary(): string {
    if (this.#missed.length === 0) return 'Every target is met.';
    return `Targets that are missed:\n\n${this.#missed.join('\n')}`;
  }
}
