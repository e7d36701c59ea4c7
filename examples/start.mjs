// Starts Rostrum on the memory store, gives it a few records, and serves the front end of the
// folder that it is called from. It stops with either of them.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '..');
const folder = process.cwd();
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const shell = process.platform === 'win32';

for (const [cwd, command] of [
  [root, 'ci'],
  [folder, 'install'],
]) {
  if (existsSync(join(cwd, 'node_modules'))) continue;
  const { status } = spawnSync(npm, [command], { cwd, stdio: 'inherit', shell });
  if (status !== 0) process.exit(1);
}

/** The Node that the project brings along. Without npm between, a signal reaches the server. */
const node = join(root, 'node_modules', 'node', 'bin', 'node');
const rostrum = spawn(
  node,
  ['src/main.ts', '--store', 'memory:', '--port', '0', '--log-level', 'warn'],
  { cwd: root, stdio: ['inherit', 'pipe', 'inherit'] },
);
rostrum.on('exit', (code) => process.exit(code ?? 1));

const lines = createInterface({ input: rostrum.stdout });
const [line] = await once(lines, 'line');
const [server] = /http:\/\/[^/\s]+/.exec(line) ?? [];
await seed(`${server}/api/v1`);

const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
const page = spawn(
  process.execPath,
  [vite, '--config', join(root, 'examples', 'vite.config.mjs'), ...process.argv.slice(2)],
  { cwd: folder, stdio: 'inherit', env: { ...process.env, ROSTRUM: server } },
);
page.on('exit', (code) => process.exit(code ?? 1));
process.on('exit', () => {
  page.kill();
  rostrum.kill();
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit());

async function seed(api) {
  for (const name of ['Ada Lovelace', 'Grace Hopper', 'Alan Turing']) {
    const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`;
    const { id: authorId } = await create(`${api}/users`, { name, email });
    for (let number = 1; number <= 20; number++) {
      const title = `${name.split(' ')[0]}’s note ${number}`;
      await create(`${api}/posts`, { title, body: 'Written by the example.', authorId });
    }
  }
}

async function create(url, record) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(record) });
  if (!response.ok) throw new Error(`${response.status} of ${url}: ${await response.text()}`);
  return response.json();
}
