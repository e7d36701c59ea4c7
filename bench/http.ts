import type { Extent } from './options.ts';
import { say } from './progress.ts';
import { getOne, getPage, postOne } from './requests.ts';
import { interleave, ratios, type Series, spread } from './rounds.ts';
import { startServing, type Throughput, type Variant } from './serving.ts';
import { printTable } from './table.ts';
import type { StoreKind, Workspace } from './workspace.ts';

/** Posts that a store begins with. */
const posts = 1000;

interface Case {
  readonly title: string;
  readonly connections: number;
  readonly request: (n: number) => string;
}

/** What the program's HTTP costs: requests a second beside a bare server over the same store. */
export async function measureHttp(extent: Extent, workspace: Workspace): Promise<void> {
  const rows: string[][] = [];
  for (const kind of ['memory', 'SQLite', 'MongoDB'] as const) {
    const url = await workspace.newStore(kind);
    if (url === undefined) continue;
    await using serving = await startServing(workspace, url, posts);
    for (const { title, connections, request } of casesOf(kind)) {
      say(`http: ${kind}, ${title}, ${connections} connections`);
      const through = (variant: Variant) => () =>
        serving.at(variant).throughput({ connections, request, ms: extent.turnMs });
      const { bare, rostrum, logging } = await interleave(extent.rounds, {
        bare: through('bare'),
        rostrum: through('rostrum'),
        logging: through('logging'),
      });
      rows.push([
        kind,
        title,
        String(connections),
        spread(rates(bare), 0),
        spread(rates(rostrum), 0),
        spread(ratios(rates(rostrum), rates(bare)), 2),
        spread(ratios(rates(logging), rates(bare)), 2),
        spread(ratios(times(bare), times(rostrum)), 2),
      ]);
    }
  }
  console.log('Requests a second (more is better): median (least–most).\n');
  const ratio = ['Rostrum / bare', 'with log / bare', 'Rostrum / bare, by processor time'];
  printTable(['store', 'request', 'connections', 'bare', 'Rostrum', ...ratio], rows);
}

function rates(series: Series<Throughput>): Series {
  return series.map(({ rate }) => rate);
}

function times(series: Series<Throughput>): Series {
  return series.map(({ cpuMs }) => cpuMs);
}

function casesOf(kind: StoreKind): Case[] {
  const post = { title: 'POST a post', request: postOne(posts) };
  return [
    { title: 'GET a post', connections: 16, request: getOne(posts) },
    { title: 'GET 20 posts', connections: 16, request: getPage() },
    { ...post, connections: 16 },
    ...(kind === 'SQLite' ? [{ ...post, connections: 64 }] : []),
  ];
}
