import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { createRostrum } from '../../src/index.ts';
import { declaredFieldsOf, settingsTable } from '../../src/settings/settings.ts';
import { node } from '../support/process.ts';
import { startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';

const sound = 'The tables and indexes of the data file are sound.\n';

describe('custom fields on the command line', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-own-'));
  const schema = join(folder, 'posts.json');
  const store = `sqlite:${join(folder, 'rostrum.db')}`;
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('can be filtered with --field and validated by a schema, which can change at the next start', async () => {
    writeFileSync(schema, '{ "properties": { "slug": { "type": "string" } } }');
    const flags = ['--field', 'posts.slug:text', '--field', 'posts.pages:number,users.vip:boolean'];
    {
      await using server = await startServer('--store', store, '--post-schema', schema, ...flags);
      const call = callsTo(server.address);
      expect(await call('POST', '/posts', { title: 'A', slug: 'hello', pages: 5 })).to.equal(201);
      expect(await call('POST', '/posts', { title: 'B', slug: 5 })).to.equal(422);
      expect(await call('GET', '/posts?slug=hello&pages=5')).to.equal(1);
      expect(await call('GET', '/posts?slug=hello&pages=6')).to.equal(0);
      expect(await call('GET', '/users?vip=true')).to.equal(0);
      expect(await call('GET', '/users?slug=hello')).to.equal(400);
    }
    process.env.FIELDS = 'posts.pages:number';
    try {
      await using server = await startServer('--store', store);
      const call = callsTo(server.address);
      expect(await call('POST', '/posts', { title: 'B', slug: 5 })).to.equal(201);
      expect(await call('GET', '/posts?pages=5')).to.equal(1);
      expect(await call('GET', '/posts?slug=hello')).to.equal(400);
    } finally {
      delete process.env.FIELDS;
    }
    const check = ['src/main.ts', 'check', '--store', store];
    expect((await node(check)).stdout).to.equal(`All 2 records are valid.\n${sound}`);
    const { code, stdout } = await node([...check, '--post-schema', schema]);
    expect([code, stdout]).to.satisfy(([code, text]: [number, string]) => {
      const [line, sum] = text.split('\n');
      const isNamed = /^post [0-9a-f-]{36}: \/slug Must be of the type string\.$/.test(line ?? '');
      return code === 2 && isNamed && sum === '1 of 2 records are not valid.';
    });
  });

  it('are listed by rostrum check if they break a declaration', async () => {
    const path = join(folder, 'broken.db');
    const tags = Array.from({ length: 65 }, String);
    const ids: string[] = [];
    const posts = [{ slug: 'a' }, { slug: 'b', tags }, { slug: 'a' }, { slug: 5 }, { slug: 5 }];
    {
      await using store = await openSqliteStore({ path });
      const rostrum = createRostrum(store);
      for (const fields of posts) {
        ids.push((await rostrum.posts.create({ title: 'A', ...fields })).record.id);
      }
    }
    const index = ['--field', 'posts.slug:text:unique', '--field', 'posts.tags:text[]'];
    const check = ['src/main.ts', 'check', '--store', `sqlite:${path}`];
    const { code, stdout } = await node([...check, ...index]);
    const [first, long, second, ...numbers] = ids;
    expect([code, ...stdout.split('\n')]).to.deep.equal([
      2,
      `post ${long}: /tags The field "tags" must have at most 64 elements.`,
      `post ${second}: /slug The record ${first} has the same value.`,
      ...numbers.map((id) => `post ${id}: /slug The field "slug" must be a string.`),
      '4 of 5 records are not valid.',
      ...sound.split('\n'),
    ]);
    expect((await node(check)).stdout).to.equal(`All 5 records are valid.\n${sound}`);
  });

  for (const [declared, type, said] of [
    ['slug:text', '{ "type": ["integer", "null"] }', 'integer or null'],
    ['tags:text[]', '{ "type": "array", "items": { "type": "number" } }', 'array of number'],
    ['tags:number', '{ "type": "array" }', 'array'],
  ] as const) {
    it(`cannot have another type in the schema: ${declared}`, async () => {
      const [name, kind] = declared.split(':');
      writeFileSync(schema, `{ "properties": { "${name}": ${type} } }`);
      const args = ['--store', 'memory:', '--post-schema', schema, '--field', `posts.${declared}`];
      expect(await failureOf(runProgram(args))).to.equal(
        `The schema file ${schema} of --post-schema gives "${name}" the type ${said}, but it is declared as ${kind}.`,
      );
    });
  }

  it('stop the program at once if they are invalid, even if the store is not ready', async () => {
    const store = 'mongodb://127.0.0.1:1/none?serverSelectionTimeoutMS=60000';
    const args = ['--store', store, '--post-schema', 'none.json'];
    const { code, stderr } = await node(['src/main.ts', ...args]);
    expect([code, stderr]).to.deep.equal([
      1,
      'The schema file none.json of --post-schema is not there.\n',
    ]);
  });

  it('are parsed from the form shown in the help', () => {
    const { parse } = settingsTable.field;
    expect(parse('posts.slug:text, users.größe:number')).to.have.lengthOf(2);
    expect(
      declaredFieldsOf(['posts.slug:text', 'users.größe:number', 'users.vip:boolean']),
    ).to.deep.equal({ users: { größe: 'number', vip: 'boolean' }, posts: { slug: 'text' } });
    for (const wrong of [
      '',
      'slug',
      'posts.slug',
      'posts.slug:string',
      'post.slug:text',
      'posts.a:text:once',
    ]) {
      expect(parse(wrong), wrong).to.equal(undefined);
    }
  });

  for (const [reason, ...args] of [
    [/--field is "posts\.title:text": "title" cannot be declared/, '--field', 'posts.title:text'],
    [/"__proto__" cannot be declared/, '--field', 'posts.__proto__:text'],
    [
      /--field .* posts\.a is given twice\./,
      '--field',
      'posts.a:text',
      '--field',
      'posts.a:number',
    ],
    [
      /--public-user-fields is "city,updatedAt": "updatedAt" cannot be made public/,
      '--public-user-fields',
      'city,updatedAt',
    ],
    [
      /'--field <declaration>' argument 'posts.slug' .* posts\.slug:text, /,
      '--field',
      'posts.slug',
    ],
    [/^The schema file none\.json of --user-schema is not there\.$/, '--user-schema', 'none.json'],
  ] as const) {
    it(`are rejected with one sentence: ${args.join(' ')}`, async () => {
      const said = await failureOf(runProgram(['--store', 'memory:', ...args]));
      expect(said)
        .to.match(reason)
        .and.to.match(/^[^\n]*\.$/);
    });
  }
});

/** Calls the API. Returns the number of records in a list, otherwise the status. */
function callsTo(address: string) {
  return async (method: string, path: string, body?: object): Promise<number> => {
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { posts, users } = (await response.json()) as { posts?: object[]; users?: object[] };
    return (posts ?? users)?.length ?? response.status;
  };
}
