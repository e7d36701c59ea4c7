import { createRostrum, type Store } from '../src/index.ts';
import { authorAt } from './data.ts';
import { fill } from './fill.ts';
import { load } from './load.ts';
import type { Extent } from './options.ts';
import { say } from './progress.ts';
import { postOne } from './requests.ts';
import { interleave, ratios, type Series, spread } from './rounds.ts';
import { startServing } from './serving.ts';
import { printTable } from './table.ts';
import { open, type Workspace } from './workspace.ts';

const posts = 1000;
const many = 64;

/** What shared commits are worth on SQLite: creates a second, one at a time and many at once. */
export async function measureWrites(extent: Extent, workspace: Workspace): Promise<void> {
  const rows = [
    row('the core', await throughCore(extent, workspace)),
    row('HTTP', await throughHttp(extent, workspace)),
  ];
  console.log('Posts created a second on SQLite (more is better): median (least–most).\n');
  printTable(['through', 'one at a time', `${many} at once`, `${many} at once / one`], rows);
}

interface Rates {
  readonly one: Series;
  readonly atOnce: Series;
}

function row(title: string, { one, atOnce }: Rates): string[] {
  return [title, spread(one, 0), spread(atOnce, 0), spread(ratios(atOnce, one), 1)];
}

async function throughCore({ rounds, turnMs }: Extent, workspace: Workspace): Promise<Rates> {
  say('writes: through the core');
  await using store = await openFilled(workspace);
  const rostrum = createRostrum(store);
  const authorId = authorAt(0).record.id;
  const input = { title: 'A title', body: 'A body that says little. '.repeat(10), authorId };
  const rate = (callers: number) => async () => {
    const start = performance.now();
    let made = 0;
    const work = async () => {
      while (performance.now() - start < turnMs) {
        await rostrum.posts.create(input);
        made += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, work));
    return (made / (performance.now() - start)) * 1000;
  };
  return await interleave(rounds, { one: rate(1), atOnce: rate(many) });
}

async function throughHttp({ rounds, turnMs }: Extent, workspace: Workspace): Promise<Rates> {
  say('writes: through HTTP');
  const url = (await workspace.newStore('SQLite')) ?? '';
  await using serving = await startServing(workspace, url, posts);
  const request = postOne(posts);
  const { port } = serving.at('rostrum');
  const rate = (connections: number) => async () =>
    (await load({ port, connections, request, ms: turnMs })).rate;
  return await interleave(rounds, { one: rate(1), atOnce: rate(many) });
}

async function openFilled(workspace: Workspace): Promise<Store> {
  const store = await open((await workspace.newStore('SQLite')) ?? '');
  await fill(store, posts);
  return store;
}
