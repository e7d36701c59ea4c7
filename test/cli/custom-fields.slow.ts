import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../src/cli/program.ts';
import { declaredFieldsOf, settingsTable } from '../../src/settings/settings.ts';
import { rostrum, startServer } from '../support/server.ts';
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
    process.env.FIELDS = 'posts.isbn:text';
    try {
      await using server = await startServer('--store', store);
      const call = callsTo(server.address);
      expect(await call('POST', '/posts', { title: 'B', slug: 'x', isbn: '1' })).to.equal(201);
      expect(await call('POST', '/posts', { title: 'B', slug: 5 })).to.equal(422);
      expect(await call('GET', '/posts?pages=5&slug=hello')).to.equal(1);
      expect(await call('GET', '/posts?isbn=1')).to.equal(1);
    } finally {
      delete process.env.FIELDS;
    }
    const check = ['check', '--store', store];
    expect((await rostrum(...check)).stdout).to.equal(`All 2 records are valid.\n${sound}`);
    writeFileSync(schema, '{ "properties": { "slug": { "type": "string", "minLength": 2 } } }');
    const { code, stdout } = await rostrum(...check, '--post-schema', schema);
    const [line, sum] = stdout.split('\n');
    expect(code).to.equal(2);
    expect(line).to.match(/^post [0-9a-f-]{36}: \/slug Must not have fewer than 2 characters\.$/);
    expect(sum).to.equal('1 of 2 records are not valid.');
  });

  it('are declared, changed and removed with rostrum field, while a server runs', async () => {
    const url = `sqlite:${join(folder, 'field.db')}`;
    const field = async (...args: string[]) => {
      const result = await rostrum('field', ...args, '--store', url);
      return `${result.code} ${result.stdout}${result.stderr}`.trimEnd();
    };
    await using server = await startServer('--store', url);
    const call = callsTo(server.address);
    const post = (fields: object) => call('POST', '/posts', { title: 'A', ...fields });
    expect(await post({ slug: 'a', views: 'x' })).to.equal(201);
    expect(await field('add', 'posts.slug:text:unique', 'posts.tags:text[]')).to.equal(
      '0 Declared: posts.slug:text:unique, posts.tags:text[]',
    );
    expect(await post({ slug: 'a' })).to.equal(409);
    expect(await post({ slug: 5 })).to.equal(422);
    expect(await post({ tags: 'a' })).to.equal(422);
    expect(await field('add', 'posts.views:number')).to.match(
      /^1 .*: posts\.views cannot be declared as number\. Records with other values: [0-9a-f-]{36}\. Change them first\.$/,
    );
    expect(await post({ views: 'y' })).to.equal(201);
    expect(await field('add', 'posts.slug:number')).to.match(
      /^1 .*: The database declares posts\.slug:text:unique, not posts\.slug:number\. .* rostrum\S* field set\.$/,
    );
    expect(await field('set', 'posts.slug:number')).to.match(/^1 .*posts\.slug cannot be declared/);
    expect(await field('list')).to.equal('0 posts.slug:text:unique\nposts.tags:text[]');
    expect(await field('set', 'posts.slug:text')).to.equal(
      '0 Declared: posts.slug:text (it was posts.slug:text:unique)',
    );
    expect(await post({ slug: 'a' })).to.equal(201);
    expect(await field('remove', 'posts.tags')).to.equal('0 Removed: posts.tags:text[]');
    expect(await post({ tags: 'a' })).to.equal(201);
    expect(await field('remove', 'posts.tags')).to.equal(
      '1 The database does not declare posts.tags.',
    );
    expect(await field('add', 'posts.title:text')).to.match(/^1 "title" cannot be declared/);
    expect(await field('list')).to.equal('0 posts.slug:text');
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
    const { code, stderr } = await rostrum(...args);
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
