// Runs schemathesis, which reads the OpenAPI description and tests the program on SQLite with its examples, at
// the limits of its schemas, at random, and along its links. Runs without keys, with keys, and with custom
// fields from a schema and filters. Any finding fails the run, except unresolved parameters of nextPage, which
// only mean that there was no next page.
//
//   pip install schemathesis
//   node test/faults/schemathesis.ts [--seconds 300] [--only plain|keys|own] [--program PATH] [--seed N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { scopes } from '../../src/index.ts';
import { rostrum, startServer } from '../support/server.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    only: { type: 'string' },
    program: { type: 'string', default: 'schemathesis' },
    seed: { type: 'string' },
  },
});

const userSchema = {
  type: 'object',
  properties: {
    born: { type: 'integer', minimum: 0, maximum: 3000 },
    home: {
      type: 'object',
      properties: { city: { type: 'string', pattern: '^[A-Za-z ]{1,50}$' } },
      additionalProperties: false,
    },
  },
  required: ['born'],
  additionalProperties: false,
};
const postSchema = {
  type: 'object',
  properties: {
    slug: { type: 'string', pattern: '^[a-z0-9-]{1,50}$' },
    tags: { type: 'array', items: { enum: ['a', 'b', 'c'] }, maxItems: 3 },
    pinned: { type: 'boolean' },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'rostrum-schemathesis-'));
const file = (name: string) => join(folder, name);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(file('users.json'), JSON.stringify(userSchema));
writeFileSync(file('posts.json'), JSON.stringify(postSchema));

/** A key without a user owns no records. */
const everything = scopes.filter((scope) => !scope.endsWith(':own'));

async function newToken(): Promise<string> {
  const { stdout } = await rostrum(
    ...['key', 'create', '--auth-keys', file('keys'), '--scopes', everything.join()],
  );
  return /rk_\S+/.exec(stdout)?.[0] ?? '';
}

const runs: Readonly<Record<string, () => Promise<{ server: string[]; fuzzer: string[] }>>> = {
  plain: async () => ({ server: [], fuzzer: [] }),
  keys: async () => {
    const token = await newToken();
    return {
      server: ['--auth-keys', file('keys')],
      fuzzer: ['--header', `Authorization: Bearer ${token}`],
    };
  },
  own: async () => ({
    server: [
      ...['--user-schema', file('users.json'), '--post-schema', file('posts.json')],
      ...['--field', 'users.born:number'],
      ...['--field', 'posts.slug:text', '--field', 'posts.pinned:boolean'],
      ...['--field', 'posts.tags:text[]', '--field', 'posts.note:text,posts.views:number'],
    ],
    fuzzer: [],
  }),
};

for (const [name, prepare] of Object.entries(runs)) {
  if (values.only !== undefined && values.only !== name) continue;
  const { server: settings, fuzzer } = await prepare();
  await using server = await startServer('--store', `sqlite:${file(`${name}.db`)}`, ...settings);
  console.log(['\nThe program', ...settings].join(' '));
  const child = spawn(
    values.program,
    [
      ...['run', `${server.address}/openapi.json`, '--max-time', values.seconds],
      ...['--workers', '1', '--no-color', '--continue-on-failure'],
      ...['--request-timeout', '40'], // A request for events can wait for 25 s.
      ...(values.seed === undefined ? [] : ['--seed', values.seed]),
      ...fuzzer,
    ],
    {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'schemathesis.py') },
      timeout: Number(values.seconds) * 1000 + 300_000,
    },
  );
  const [code] = await once(child, 'exit');
  const isAlive = (await fetch(`${server.address}/livez`)).status === 200;
  if (code !== 0 || !isAlive) process.exitCode = 1;
}
