import { type PostOrder, type PostSort, postSorts } from '../src/index.ts';
import { fill } from './fill.ts';
import type { Extent } from './options.ts';
import { type Contestants, httpContestants, portContestants } from './page-contestants.ts';
import { say } from './progress.ts';
import { interleave, ratios, spread } from './rounds.ts';
import { printTable } from './table.ts';
import { open, openToFill, type StoreKind, type Workspace } from './workspace.ts';

const few = 1000;
const limit = 20;

/** A page of the small store, and the page of the large one that it is compared to. */
interface Depth {
  readonly title: string;
  /** Posts before the page. */
  readonly small: number;
  readonly large: number;
}

/** Whether a page costs the same in a store of any size, at any depth, in any order. */
export async function measurePages(extent: Extent, workspace: Workspace): Promise<void> {
  console.log(`Milliseconds for a page of ${limit} posts (less is better): median (least–most).`);
  for (const kind of ['SQLite', 'MongoDB'] as const) {
    const small = await workspace.newStore(kind);
    const large = await workspace.newStore(kind);
    if (small === undefined || large === undefined) continue;
    await fillOne(small, few, kind);
    const seconds = await fillOne(large, extent.many, kind);
    const rows: string[][] = [];
    {
      await using port = await portContestants(small, large);
      rows.push(...(await compare(extent, kind, 'the port', port, orders(...postSorts))));
    }
    await using http = await httpContestants(workspace, small, large);
    rows.push(...(await compare(extent, kind, 'HTTP', http, orders('createdAt'))));
    const filled = `filled with ${count(extent.many)} posts in ${seconds.toFixed(0)} s`;
    console.log(`\n${kind}, ${filled}:\n`);
    const sizes = [`of ${count(few)}`, `of ${count(extent.many)}`, 'large / small'];
    printTable(['through', 'sort', 'page', ...sizes], rows);
  }
}

async function compare(
  { rounds, turnMs, many }: Extent,
  kind: StoreKind,
  through: string,
  contestants: Contestants,
  all: readonly PostOrder[],
): Promise<string[][]> {
  const rows: string[][] = [];
  for (const order of all) {
    const sort = `${order.direction === 'desc' ? '-' : ''}${order.by}`;
    for (const { title, small, large } of depths(many)) {
      say(`pages: ${kind} through ${through}, ${sort}, ${title}`);
      const times = await interleave(rounds, {
        small: await contestants.small({ order, limit, skip: small, ms: turnMs / 4 }),
        large: await contestants.large({ order, limit, skip: large, ms: turnMs / 4 }),
      });
      const ratio = spread(ratios(times.large, times.small), 2);
      const shown = [spread(times.small, 3), spread(times.large, 3), ratio];
      rows.push([through, sort, title, ...shown]);
    }
  }
  return rows;
}

/** The page before the last one, where the last would do: like all others, it has a next. */
function depths(many: number): Depth[] {
  const deep = many >= 1_000_000 ? 200_000 : many / 5;
  return [
    { title: 'the first', small: 0, large: 0 },
    {
      title: `the ${count(few / limit - 1)}th / ${count(deep / limit)}th`,
      small: few - 2 * limit,
      large: deep - limit,
    },
  ];
}

function orders(...sorts: readonly PostSort[]): PostOrder[] {
  return sorts.flatMap((by) => [
    { by, direction: 'asc' },
    { by, direction: 'desc' },
  ]);
}

/** @returns how many seconds it took */
async function fillOne(url: string, posts: number, kind: StoreKind): Promise<number> {
  const isFile = kind === 'SQLite';
  await using store = isFile ? openToFill(url.slice('sqlite:'.length)) : await open(url);
  say(`pages: filling ${kind} with ${count(posts)} posts`);
  const start = performance.now();
  await fill(store, posts, isFile ? 100 : 4);
  return (performance.now() - start) / 1000;
}

function count(posts: number): string {
  return posts.toLocaleString('en');
}
