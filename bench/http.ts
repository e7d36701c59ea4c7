import { load } from './load.ts';
import type { Extent } from './options.ts';
import { say } from './progress.ts';
import { getOne, getPage, postOne } from './requests.ts';
import { interleave, ratios, spread } from './rounds.ts';
import { startServing } from './serving.ts';
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
      const through = (port: number) => () =>
        load({ port, connections, request, ms: extent.turnMs });
      const { bare, rostrum, logging } = await interleave(extent.rounds, {
        bare: through(serving.ports.bare),
        rostrum: through(serving.ports.rostrum),
        logging: through(serving.ports.logging),
      });
      rows.push([
        kind,
        title,
        String(connections),
        spread(bare, 0),
        spread(rostrum, 0),
        spread(ratios(rostrum, bare), 2),
        spread(ratios(logging, bare), 2),
      ]);
    }
  }
  console.log('Requests a second (more is better): median (least–most).\n');
  printTable(
    ['store', 'request', 'connections', 'bare', 'Rostrum', 'Rostrum / bare', 'with log / bare'],
    rows,
  );
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
