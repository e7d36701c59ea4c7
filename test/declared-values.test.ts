import { expect } from 'chai';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError, type PostInput, type UserInput } from '../src/index.ts';
import { type Api, startApi } from './adapters/http/support/api.ts';
import { type McpClient, type McpServer, startMcp } from './adapters/mcp/support/mcp.ts';
import { Imports, lines, text } from './cli/import/imports.ts';
import { errorOf } from './support/error-of.ts';

// Each type of a declared field, with each kind of wrong value, by every way in which a record gets into a store.

const fields = { slug: 'text', views: 'number', hot: 'boolean', tags: 'text[]' } as const;
const declaredFields = { users: fields, posts: fields };

interface Wrong {
  readonly field: keyof typeof fields;
  /** As documented. */
  readonly name: string;
  readonly value: unknown;
  /** A cell of CSV that means the same; absent if none does, because every cell is a text. */
  readonly cell?: string;
  /** Pointer and code. */
  readonly issue: string;
}

const many = Array.from({ length: 65 }, String);
const wrong: readonly Wrong[] = [
  { field: 'slug', name: 'a number', value: 5, issue: '/slug type' },
  { field: 'slug', name: 'an array', value: ['a'], issue: '/slug type' },
  {
    field: 'slug',
    name: 'more than 1,000 characters',
    value: 'x'.repeat(1001),
    cell: 'x'.repeat(1001),
    issue: '/slug too-long',
  },
  { field: 'views', name: 'a text', value: 'many', cell: 'many', issue: '/views type' },
  { field: 'views', name: 'true or false', value: true, cell: 'true', issue: '/views type' },
  { field: 'hot', name: 'a text', value: 'yes', cell: 'yes', issue: '/hot type' },
  { field: 'hot', name: 'a number', value: 2, cell: '2', issue: '/hot type' },
  { field: 'tags', name: 'a text', value: 'a', issue: '/tags type' },
  { field: 'tags', name: 'an object', value: { a: 'a' }, issue: '/tags type' },
  {
    field: 'tags',
    name: 'an element that is not a text',
    value: ['a', 1],
    cell: '["a",1]',
    issue: '/tags/1 type',
  },
  {
    field: 'tags',
    name: 'an element of more than 200 characters',
    value: ['a', 'x'.repeat(201)],
    cell: `a, ${'x'.repeat(201)}`,
    issue: '/tags/1 too-long',
  },
  {
    field: 'tags',
    name: 'more than 64 elements',
    value: many,
    cell: many.join(', '),
    issue: '/tags too-long',
  },
];

interface Issue {
  readonly pointer: string;
  readonly code: string;
}
const shown = (issues: readonly Issue[] = []) =>
  issues.map(({ pointer, code }) => `${pointer} ${code}`).join(', ');

/** Compares a table of all wrong values with what they lead to. */
async function expectRejected(
  send: (one: Wrong) => Promise<string>,
  rows: readonly Wrong[] = wrong,
): Promise<void> {
  const table: string[] = [];
  for (const one of rows) table.push(`${one.field}, ${one.name}: ${await send(one)}`);
  expect(table).to.deep.equal(rows.map(({ field, name, issue }) => `${field}, ${name}: ${issue}`));
}

describe('a wrong value of a declared field', () => {
  const store = createMemoryStore({ declaredFields });
  const all = createRostrum(store);
  const { users, posts } = all;
  const own = all.as({ name: 'ada', subject: 'ada', scopes: ['users:write:own'] }).users;
  const isNew = { title: 'x' };
  let api: Api;
  let mcp: McpServer;
  let agent: McpClient;
  let user: string;
  let post: string;
  let initial: unknown;

  /** All records of the store. */
  const stored = async () => [(await users.list()).items, (await posts.list()).items];

  before(async () => {
    api = await startApi({ store });
    mcp = await startMcp({}, createRostrum(store) as typeof mcp.rostrum);
    agent = await mcp.connect();
    user = (await users.create({ name: 'Bob' })).record.id;
    post = (await posts.create(isNew)).record.id;
    await own.saveOwn({ name: 'Ada' });
    initial = await stored();
  });
  after(async () => {
    await mcp[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    expect(await stored()).to.deep.equal(initial);
  });

  const thrown = async (call: Promise<unknown>) => {
    const error = await errorOf(call);
    if (!isRostrumError(error, 'invalid-record')) throw error;
    return shown(error.details.issues);
  };
  const library: Readonly<Record<string, (member: object) => Promise<unknown>>> = {
    'create of a user': (member) => users.create({ name: 'x', ...member } as UserInput),
    'create of a post': (member) => posts.create({ ...isNew, ...member } as PostInput),
    replace: (member) => posts.replace(post, { ...isNew, ...member } as PostInput),
    patch: (member) => posts.patch(post, member),
    update: (member) => posts.update(post, (now) => ({ ...now, ...member })),
    saveOwn: (member) => own.saveOwn({ name: 'Ada', ...member } as UserInput),
  };
  for (const [name, call] of Object.entries(library)) {
    it(`is rejected by the library: ${name}`, () =>
      expectRejected(({ field, value }) => thrown(call({ [field]: value }))));
  }

  const http: Readonly<Record<string, () => string>> = {
    'POST /users': () => 'users',
    'POST /posts': () => 'posts',
    'PUT /users': () => `users/${user}`,
    'PUT /posts': () => `posts/${post}`,
    'PATCH /users': () => `users/${user}`,
    'PATCH /posts': () => `posts/${post}`,
  };
  for (const [name, path] of Object.entries(http)) {
    it(`is rejected over HTTP: ${name}`, () =>
      expectRejected(async ({ field, value }) => {
        const [method = ''] = name.split(' ');
        const body = { name: 'x', ...isNew, [field]: value };
        const answer = await api.send(method, `/${path()}`, {}, body);
        expect([answer.status, answer.body.code]).to.deep.equal([422, 'invalid-record']);
        return shown(answer.body.errors as unknown as Issue[]);
      }));
  }

  const tools: Readonly<Record<string, (member: object) => [tool: string, args: object]>> = {
    create_post: (member) => ['create_post', { ...isNew, key: 'k', ...member }],
    update_post: (changes) => ['update_post', { id: post, version: 1, changes }],
    update_user: (changes) => ['update_user', { id: user, version: 1, changes }],
  };
  for (const [name, call] of Object.entries(tools)) {
    it(`is rejected by the MCP tool ${name}`, () =>
      expectRejected(async ({ field, value }) => {
        const [tool, args] = call({ [field]: value });
        const { isError, content } = await agent.call(tool, { ...args });
        expect(isError).to.equal(true);
        return shown(content?.error?.issues);
      }));
  }
});

describe('a wrong value of a declared field in an import', () => {
  const imports = new Imports();

  const report = async (content: string, file: string) => {
    imports.rejected = [];
    const { rejected } = await imports.run(content, { file, as: 'posts', declaredFields });
    expect(rejected).to.equal(1);
    expect(await imports.held()).to.deep.equal({ users: [], posts: [] });
    // Without the place of the record in the file.
    return imports.rejected.map((one) => one.replace(/^.*? (?=\/)/, '')).join(', ');
  };
  const asRecord = ({ field, value }: Wrong) => ({ title: 'x', [field]: value });

  it('is rejected in JSON', () => expectRejected((one) => report(text([asRecord(one)]), 'a.json')));

  it('is rejected in JSON Lines', () =>
    expectRejected((one) => report(lines([asRecord(one)]), 'a.jsonl')));

  it('is rejected in CSV', () =>
    expectRejected(
      ({ field, cell = '' }) =>
        report(`title;${field}\nx;"${cell.replaceAll('"', '""')}"\n`, 'a.csv'),
      wrong.filter(({ cell }) => cell !== undefined),
    ));
});
