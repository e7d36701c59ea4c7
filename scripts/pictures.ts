// Takes the pictures of the README: the list of posts in the admin page, light and dark.

import { join, resolve } from 'node:path';
import { startServer } from '../test/support/server.ts';
import { launch, violationsIn } from '../test/third-party/browser/chromium.ts';

const folder = resolve(import.meta.dirname, '..', 'docs', 'pictures');
const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Barbara Liskov', 'Hedy Lamarr'];
const titles = [
  ...['On engines that weave patterns', 'A note on compilers', 'What machines may do'],
  ...['Abstraction, and its price', 'Hopping between frequencies', 'Goto, considered again'],
  ...['Landing with 4 kB', 'The art of a footnote', 'Trees that find their root', 'Pipes'],
];

const browser = await launch();
if (browser === undefined) process.exit(1);
const declared = ['--field', 'posts.section:text', '--field', 'posts.views:number'];
await using server = await startServer('--store', 'memory:', ...declared);

async function create(kind: string, body: object): Promise<string> {
  const response = await fetch(`${server.address}/api/v1/${kind}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { id: string }).id;
}

const authors: string[] = [];
for (const name of people) authors.push(await create('users', { name }));
for (let n = 39; n >= 0; n--) {
  const publishedAt = n % 7 === 2 ? null : n % 9 === 4 ? '2031-05-06T07:00:00Z' : undefined;
  await create('posts', {
    title: `${titles[n % titles.length]}${n < 10 ? '' : `, part ${Math.ceil(n / 10)}`}`,
    authorId: authors[n % authors.length],
    section: ['essays', 'notes', 'news'][n % 3],
    views: (n * 7919) % 1000,
    publishedAt,
  });
}

for (const colorScheme of ['light', 'dark'] as const) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  await page.goto(`${server.address}/admin#/posts`);
  await page.getByText('40 posts').waitFor();
  await page.screenshot({ path: join(folder, `admin-list-1280-${colorScheme}.png`) });
  for (const violation of await violationsIn(page)) {
    console.error(violation);
    process.exitCode = 1;
  }
}
await browser.close();
