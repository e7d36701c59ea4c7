// Pictures of the pages for docs/pictures, from the running program in Chromium. It says what axe-core
// finds in each, how much each loads, and when each is first painted; a finding is a failure.
//
//   npm run pictures [-- the beginning of their names]

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launch, violationsIn } from '../test/browser/chromium.ts';
import { rostrum, startServer } from '../test/support/server.ts';

const folder = resolve(import.meta.dirname, '..', 'docs', 'pictures');

const people = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Barbara Liskov', 'Hedy Lamarr'];
const titles = [
  ...['On engines that weave patterns', 'A note on compilers', 'What machines may do'],
  ...['Abstraction, and its price', 'Hopping between frequencies', 'Goto, considered again'],
  ...['Landing with 4 kB', 'The art of a footnote', 'Trees that find their root', 'Pipes'],
];
const schema = {
  properties: {
    section: { type: 'string', enum: ['news', 'essays', 'notes'] },
    pinned: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
  },
};

interface Scene {
  readonly path: string;
  readonly address?: string;
  readonly prepare?: (page: Page) => Promise<void>;
}

const work = await mkdtemp(join(tmpdir(), 'rostrum-pictures-'));
await writeFile(join(work, 'posts.json'), JSON.stringify(schema));
const made = await rostrum(
  ...['key', 'create', '--auth-keys', join(work, 'keys'), '--scopes', 'posts:read'],
);
if (made.code !== 0) throw new Error(made.stderr);
await using server = await startServer(
  ...['--store', `sqlite:${join(work, 'rostrum.db')}`, '--index', 'posts.section:text'],
  ...['--post-schema', join(work, 'posts.json')],
);
await using asked = await startServer('--store', 'memory:', '--auth-keys', join(work, 'keys'));
await using empty = await startServer('--store', 'memory:');

async function send(method: string, path: string, body: object): Promise<string> {
  const init = { method, headers: { 'Content-Type': 'application/json' } };
  const url = `${server.address}/api/v1${path}`;
  const response = await fetch(url, { ...init, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { id: string }).id;
}

const users: string[] = [];
for (const name of people) {
  const email = `${name.toLowerCase().replace(' ', '.')}@example.com`;
  users.push(await send('POST', '/users', { name, email, city: 'London' }));
}
const posts: string[] = [];
for (let n = 39; n >= 0; n--) {
  const title = (titles[n % titles.length] ?? '') + (n < 10 ? '' : `, part ${Math.ceil(n / 10)}`);
  const publishedAt = n % 7 === 2 ? null : n % 9 === 4 ? '2031-05-06T07:00:00Z' : undefined;
  posts.unshift(
    await send('POST', '/posts', {
      ...{ title, body: 'It weaves patterns, as the loom weaves flowers and leaves.' },
      ...{ section: ['essays', 'notes', 'news'][n % 3], pinned: n === 0, tags: ['history'] },
      ...{ authorId: users[n % users.length], ...(publishedAt !== undefined && { publishedAt }) },
    }),
  );
}

async function conflict(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Title' }).fill('On engines that weave flowers');
  await page.getByRole('textbox', { name: 'Tags' }).fill('["history", "looms"]');
  const title = `On engines, revised ${Math.random().toString(36).slice(2, 4)}`;
  await send('PATCH', `/posts/${posts[0]}`, { title, section: 'news' });
  await page.getByText('Somebody else saved this record').waitFor();
  await page.evaluate('scrollTo(0, 0)');
}

async function deletion(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByText('of this user may stay').waitFor();
}

const operation = async (page: Page) =>
  page.locator('.opblock.is-open .response').first().waitFor();

const scenes: Readonly<Record<string, Scene>> = {
  home: { path: '/' },
  docs: { path: '/docs#/posts/createPost', prepare: operation },
  problem: { path: '/problems/version-mismatch' },
  'admin-list': { path: '/admin#/posts' },
  'admin-edit': { path: `/admin#/posts/${posts[1]}` },
  'admin-conflict': { path: `/admin#/posts/${posts[0]}`, prepare: conflict },
  'admin-delete': { path: `/admin#/users/${users[0]}`, prepare: deletion },
  'admin-empty': { path: '/admin#/posts', address: empty.address },
  'admin-signed-out': { path: '/admin', address: asked.address },
};

async function take(browser: Browser, name: string, scene: Scene, look: BrowserContextOptions) {
  const { path, address = server.address, prepare } = scene;
  const context = await browser.newContext(look);
  const page = await context.newPage();
  const wrong: string[] = [];
  let bytes = 0;
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith('data:')) {
      wrong.push(request.url());
    }
  });
  page.on('requestfinished', async (request) => {
    const { responseBodySize } = await request.sizes();
    if (!request.url().includes('swagger-ui')) bytes += responseBodySize;
  });
  page.on('pageerror', ({ message }) => wrong.push(message));
  page.on('console', (message) => message.type() === 'error' && wrong.push(message.text()));
  await page.goto(address + path);
  await page.locator('h1, .opblock').filter({ visible: true }).first().waitFor();
  await page.getByText('Loading…').waitFor({ state: 'detached' });
  await sleep(700); // What is loaded behind the first painting.
  const paint = await page.evaluate<number>(
    'performance.getEntriesByName("first-contentful-paint")[0].startTime',
  );
  const loaded = bytes;
  await prepare?.(page);
  await page.evaluate('document.fonts.ready');
  const file = `${name}-${look.viewport?.width}-${look.colorScheme}.png`;
  await page.screenshot({ path: join(folder, file) });
  const found = await violationsIn(page);
  console.log(`${file}: ${(loaded / 1024).toFixed(1)} KB, painted after ${Math.round(paint)} ms`);
  for (const one of [...wrong, ...found]) {
    console.error(`  ${one}`);
    process.exitCode = 1;
  }
  await context.close();
}

const browser = await launch();
try {
  if (browser === undefined) throw new Error('Chromium is not here, or does not start.');
  await mkdir(folder, { recursive: true });
  for (const [name, scene] of Object.entries(scenes)) {
    if (!name.startsWith(process.argv[2] ?? '')) continue;
    for (const width of [1280, 390]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await take(browser, name, scene, { colorScheme, viewport: { width, height: 800 } });
      }
    }
  }
} finally {
  await browser?.close();
  await rm(work, { recursive: true, force: true });
}
