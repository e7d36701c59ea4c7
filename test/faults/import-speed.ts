// How long `rostrum import` takes for a file of so many posts on SQLite, beside `rostrum copy` of the
// same posts, one after the other. Fails when the median of the imports is over twice that of the copies.
//
//   node test/faults/import-speed.ts [--posts 100000] [--rounds 3]

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { authorAt, authorsOf, postAt } from '../../bench/data.ts';
import { median } from '../../bench/rounds.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { rostrum } from '../support/server.ts';

const { values } = parseArgs({
  options: {
    posts: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
  },
});
const posts = Number(values.posts);
const most = 2;

await using folder = await temporaryDirectory();
const file = join(folder.path, 'db.json');
const data = {
  users: Array.from({ length: authorsOf(posts) }, (_, n) => authorAt(n).record),
  posts: Array.from({ length: posts }, (_, n) => postAt(n).record),
};
await writeFile(file, JSON.stringify(data));

async function seconds(...args: string[]): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await rostrum(...args);
  if (code !== 0) throw new Error(stderr);
  return (performance.now() - start) / 1000;
}

const url = (name: string) => `sqlite:${join(folder.path, name)}`;
const [imports, copies]: [number[], number[]] = [[], []];
for (let round = 1; round <= Number(values.rounds); round++) {
  const [from, to] = [url(`imported-${round}.db`), url(`copied-${round}.db`)];
  imports.push(await seconds('import', file, '--store', from));
  copies.push(await seconds('copy', '--from', from, '--to', to));
  console.log(`import ${imports.at(-1)?.toFixed(1)} s, copy ${copies.at(-1)?.toFixed(1)} s`);
}
const ratio = median(imports) / median(copies);
console.log(`${posts} posts: an import takes ${ratio.toFixed(2)} times as long as a copy.`);
if (ratio > most) process.exitCode = 1;
