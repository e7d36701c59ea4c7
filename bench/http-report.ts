import type { RequestKind } from './requests.ts';
import { type Report, table } from './results.ts';
import { type Columns, decimal, median, ratios, spread } from './rounds.ts';
import { type Contestant, contestants } from './servers.ts';
import { busy, type Turn } from './turns.ts';
import type { StoreKind } from './workspace.ts';

type ByContestant<Figure extends string> = Readonly<Record<Contestant, Columns<Figure>>>;

/** The results for one request on one store with so many connections. */
export interface Cell {
  readonly store: StoreKind;
  readonly request: RequestKind;
  readonly connections: number;
  readonly turns: ByContestant<keyof Turn>;
}

/** The start-up results on a store. */
export interface Starts {
  readonly store: StoreKind;
  readonly starts: ByContestant<'startMs' | 'idleMiB'>;
}

/** Returns the tables and data of the measurement. */
export function reportHttp(cells: readonly Cell[], starts: readonly Starts[]): Report {
  const busyCells = cells.filter(({ connections }) => connections === busy);
  const processor = busyCells.map(({ store, request, turns }) => {
    const { bare, Fastify, Koa, Rostrum } = turns;
    return [
      ...[store, request],
      ...[bare, Fastify, Koa, Rostrum].map(({ cpuUs }) => spread(cpuUs, 0)),
      ...[bare, Fastify, Koa].map(({ cpuUs }) => spread(ratios(Rostrum.cpuUs, cpuUs), 2)),
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
  const memory = starts.flatMap(({ store, starts }) => {
    const busyMiB = (name: Contestant) => {
      const reads = busyCells.filter((cell) => cell.store === store && cell.request !== 'POST');
      return [Math.max(...reads.flatMap(({ turns }) => turns[name].rssMiB))];
    };
    return contestants.map((name) => {
      const { startMs, idleMiB } = starts[name];
      const figures = [startMs, idleMiB, busyMiB(name)];
      return [store, name, ...figures.map((series) => spread(series, 0))];
    });
  });
  const order = contestants.join(' / ');
  const client = cells.flatMap((cell) => contestants.flatMap((n) => cell.turns[n].clientBusy));

  return {
    markdown: [
      `Processor time of the server for a request at ${busy} connections, in microseconds:`,
      table([...['store', 'request'], ...contestants, ...processorRatios], processor),
      `Requests per second, and milliseconds per response (${order}):`,
      table(['store', 'request', 'connections', ...servedFigures], served),
      'Start-up in milliseconds, and memory (RSS) in MiB when idle and when serving reads:',
      table(['store', 'server', 'start-up', 'idle', 'busy'], memory),
      `The client used ${decimal(Math.max(...client) * 100, 0)} % of a core at most.`,
    ].join('\n\n'),
    data: { cells, starts },
  };
}

const processorRatios = ['Rostrum / bare', 'Rostrum / Fastify', 'Rostrum / Koa'];
const servedFigures = ['requests/s', 'Rostrum / bare', 'p50', 'p99', 'p99 Rostrum / bare'];
