import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteSearch } from '../examples/followers/sqlite-search.ts';
import type { Post } from '../packages/rostrum-client/src/index.ts';
import type { Options } from './options.ts';
import { say, table } from './results.ts';
import { decimal, median } from './rounds.ts';
import type { Workspace } from './workspace.ts';

const posts = 100_000;
const wordsPerPost = 300;
const vocabulary = 60_000;
const repetitions = 15;

/** Returns a source of pseudo-random numbers from 0 to 1, always the same ones. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns a source of words as frequent as those of a language (Zipf's law): common ones are short. */
function wordSource(): () => string {
  const next = numbers(1);
  const letters = ['tnshrdlcmwfgypbvk', 'eaoiu'] as const;
  const words = Array.from({ length: vocabulary }, (_, rank) => {
    const length = Math.round(2 + Math.log10(rank + 1) * 1.35 + next() * 2);
    const spelled = Array.from({ length }, (_, i) => letters[i % 2 ? 1 : 0]);
    return spelled.map((some) => some[Math.floor(next() * some.length)]).join('');
  });
  let sum = 0;
  const sums = words.map((_, rank) => {
    sum += 1 / (rank + 2.7) ** 1.13;
    return sum;
  });
  return () => {
    const wanted = next() * sum;
    let [low, high] = [0, vocabulary - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sums[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return words[low] ?? '';
  };
}

/** Returns a post. `qten` is in ten posts, `qthousand` in 1,000, `qmost` in two thirds, and `qhalf` in half. */
function postAt(n: number, word: () => string): Post {
  const at = new Date(1.4e12 + n * 3_600_000).toISOString();
  const body = Array.from({ length: wordsPerPost }, word);
  if (n % (posts / 10) === 7) body.push('qten');
  if (n % 100 === 3) body.push('qthousand');
  if (n % 3 !== 0) body.push('qmost');
  if (n % 2 !== 0) body.push('qhalf');
  return {
    ...{ id: `01a2252a-a20b-73fe-be17-${String(n).padStart(12, '0')}`, title: `Post ${n}` },
    ...{ body: body.join(' '), authorId: null },
    ...{ publishedAt: at, createdAt: at, updatedAt: at },
  };
}

const queries: Readonly<Record<string, string>> = {
  'a word in no post': 'qnone ',
  'a word in 10 posts': 'qten ',
  'a word in 1,000 posts': 'qthousand ',
  'a word in 67,000 posts': 'qmost ',
  'two words, in 67,000 and 50,000 posts': 'qmost qhalf ',
  'two words, in 10 and 67,000 posts': 'qten qmost ',
  'a prefix of two letters': 'co',
  'a prefix of three letters': 'con',
  'a word in 67,000 posts, and a prefix of two letters': 'qmost co',
};

/** Measures the search example with 100,000 posts. Returns Markdown tables of processor time. */
export async function measureSearch(_: Options, { folder }: Workspace): Promise<string> {
  const file = join(folder, 'search.db');
  const search = new SqliteSearch(file);
  const word = wordSource();
  let [indexing, records] = [0, 0];
  for (let n = 0; n < posts; n += 100) {
    if (n % 10_000 === 0) say(`adds posts: ${n} of ${posts}`);
    const part = Array.from({ length: 100 }, (_, i) => postAt(n + i, word));
    for (const post of part) records += JSON.stringify(post).length;
    const before = process.cpuUsage();
    await search.updateDocuments(part);
    indexing += microseconds(before);
  }
  const deep = Date.parse(postAt(posts / 10, word).publishedAt ?? '') * 1000;
  const rows = Object.entries(queries).map(([name, query]) => {
    const time = (after?: number) => {
      const times = Array.from({ length: repetitions }, () => {
        const before = process.cpuUsage();
        search.find(query, after === undefined ? {} : { after });
        return microseconds(before) / 1000;
      });
      return decimal(median(times), 2);
    };
    return [name, time(), time(deep)];
  });
  search.close();
  const costs = [
    ['processor time to index a post', `${Math.round(indexing / posts)} µs`],
    ['index, per post', `${Math.round(statSync(file).size / posts)} bytes`],
    ['JSON of the posts, per post', `${Math.round(records / posts)} bytes`],
  ];
  const found = table(['query', 'first page, ms', 'after 90,000 posts, ms'], rows);
  return `${table(['cost', ''], costs)}\n\n${found}`;
}

function microseconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}
