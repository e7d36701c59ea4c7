// Starts Rostrum on the memory store, gives it a few records, and serves the front end of the
// folder that it is called from. It stops with either of them. With --with-key, the API asks for a
// key, which it makes and shows.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import './install.mjs';

const root = resolve(import.meta.dirname, '..');
const folder = process.cwd();

/** The Node that the project brings along. Without npm between, a signal reaches the server. */
const node = join(root, 'node_modules', 'node', 'bin', 'node');
const options = process.argv.slice(2);
const isWithKey = options[0] === '--with-key';
if (isWithKey) options.shift();
const access = isWithKey
  ? ['--auth-keys', join(mkdtempSync(join(tmpdir(), 'rostrum-')), 'keys')]
  : [];
const key = isWithKey && makeKey();
const rostrum = spawn(
  node,
  [
    ...['src/main.ts', '--store', 'memory:', '--port', '0', '--log-level', 'warn'],
    ...['--field', 'posts.tags:text[]', ...access],
  ],
  { cwd: root, stdio: ['inherit', 'pipe', 'inherit'] },
);
rostrum.on('exit', (code) => process.exit(code ?? 1));

const lines = createInterface({ input: rostrum.stdout });
const [line] = await once(lines, 'line');
const [server] = /http:\/\/[^/\s]+/.exec(line) ?? [];
await seed(`${server}/api/v1`);
if (key) console.log(`Sign in with this key: ${key}`);

const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
const page = spawn(
  process.execPath,
  [vite, '--config', join(root, 'examples', 'vite.config.mjs'), ...options],
  { cwd: folder, stdio: 'inherit', env: { ...process.env, ROSTRUM: server } },
);
page.on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => {
  page.kill();
  rostrum.kill();
  if (isWithKey) rmSync(dirname(access[1]), { recursive: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit());

/** A key that may do everything, as a user whom its owner has still to make. */
function makeKey() {
  const scopes = 'users:read,users:write,posts:read,posts:write';
  const options = ['--scopes', scopes, '--subject', 'ada', '--name', 'The example'];
  const made = spawnSync(node, ['src/main.ts', 'key', 'create', ...access, ...options], {
    cwd: root,
  });
  if (made.status !== 0) throw new Error(String(made.stderr));
  return String(made.stdout).trim();
}

async function seed(api) {
  for (const [index, name] of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing'].entries()) {
    const [called = ''] = name.split(' ');
    const user = { name, email: `${called.toLowerCase()}@example.com` };
    const { id: authorId } =
      key && index === 0
        ? await send('PUT', `${api}/users/me`, user)
        : await send('POST', `${api}/users`, user);
    const post = (title, more) =>
      send('POST', `${api}/posts`, { title, body: 'Written by the example.', authorId, ...more });
    for (let number = 1; number <= 20; number++) {
      await post(`${called}’s note ${number}`, { tags: number % 5 ? ['note'] : ['note', 'fifth'] });
    }
    await post(`${called}’s draft`, { publishedAt: null });
    await post(`${called}’s note for tomorrow`, { publishedAt: new Date(Date.now() + 86_400_000) });
  }
}

async function send(method, url, record) {
  const headers = {
    'Content-Type': 'application/json',
    ...(key && { Authorization: `Bearer ${key}` }),
  };
  const response = await fetch(url, { method, headers, body: JSON.stringify(record) });
  if (!response.ok) throw new Error(`${response.status} of ${url}: ${await response.text()}`);
  return response.json();
}
