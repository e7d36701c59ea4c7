import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum, type JsonObject, type Rostrum } from '../../../src/index.ts';
import { type McpClient, startMcp } from './support/mcp.ts';

const declaredFields = {
  posts: { slug: { type: 'text', unique: true }, views: 'number', ok: 'boolean', tags: 'text[]' },
  users: { born: 'number' },
} as const;

function rostrumWith(filters: object = declaredFields): Rostrum {
  return createRostrum(createMemoryStore({ declaredFields: filters })) as unknown as Rostrum;
}

async function inputs(client: McpClient): Promise<Record<string, JsonObject>> {
  const { tools } = await client.listTools();
  return Object.fromEntries(
    tools.map(({ name, inputSchema }) => [name, inputSchema as JsonObject]),
  );
}

/** The names of all properties in a JSON Schema. */
function namesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties } = schema as { properties?: object };
  return [...Object.keys(properties ?? {}), ...Object.values(schema).flatMap(namesIn)];
}

describe('the list of MCP tools', () => {
  it('is at most 6 kB long without custom fields, or 30 kB with a schema of them', async () => {
    const property = { type: 'string', description: 'What it is. '.repeat(10), maxLength: 100 };
    const schema = (count: number) => ({
      properties: Object.fromEntries([...Array(count)].map((_, n) => [`field_${n}`, property])),
      required: [...Array(count)].map((_, n) => `field_${n}`),
    });
    const sizes: number[] = [];
    for (const count of [0, 1, 40, 90, 5000]) {
      const customFields = count === 0 ? {} : { users: schema(count), posts: schema(count) };
      const declared = count === 0 ? {} : declaredFields;
      await using mcp = await startMcp({ deletes: true, customFields }, rostrumWith(declared));
      const client = await mcp.connect();
      await client.listTools();
      sizes.push(client.bytes);
    }
    expect(sizes[0]).to.be.at.most(6000);
    for (const size of sizes) expect(size).to.be.at.most(30_000);
    expect(sizes[2]).to.be.greaterThan(20_000); // All 40 fields are described.
    expect(sizes[4]).to.be.greaterThan(6000); // Some of the 5,000 fields are named.
  });

  it('describes custom fields that are declared or in the schema', async () => {
    const posts = {
      properties: { lang: { enum: ['en', 'eo'] }, slug: { $ref: '#/$defs/slug' } },
      required: ['lang'],
      $defs: { slug: { type: 'string', pattern: '^[a-z-]+$' } },
    };
    const users = {
      properties: { bio: { type: 'string' }, born: { type: 'integer' } },
      required: ['bio'],
    };
    await using mcp = await startMcp({ customFields: { posts, users } }, rostrumWith());
    const { create_post, update_post, update_user, find_posts } = await inputs(await mcp.connect());
    const text = { type: 'string' };
    const declared = {
      slug: { type: ['string', 'null'], maxLength: 1000, $ref: '#/$defs/slug' },
      views: { type: ['number', 'null'] },
      ok: { type: ['boolean', 'null'] },
      tags: { type: ['array', 'null'], maxItems: 64, items: { ...text, maxLength: 200 } },
    };
    expect(create_post?.properties).to.deep.include({ lang: posts.properties.lang, ...declared });
    expect(create_post).to.deep.include({ required: ['lang', 'title', 'key'], $defs: posts.$defs });
    const changesOf = (tool: JsonObject | undefined) =>
      (tool as { properties: { changes: JsonObject } }).properties.changes;
    const { slug, ...others } = declared;
    expect(changesOf(update_post).properties).to.deep.equal({
      ...{ title: text, body: { type: ['string', 'null'] } },
      ...{ authorId: { type: ['string', 'null'] }, publishedAt: { type: ['string', 'null'] } },
      ...{ lang: {}, slug: { anyOf: [slug, { type: 'null' }] }, ...others },
    });
    expect(update_post).to.deep.include({ $defs: posts.$defs });
    expect(changesOf(update_user).properties).to.deep.equal({
      ...{ name: text, email: { type: ['string', 'null'] } },
      ...{ bio: text, born: { type: ['integer', 'null'] } },
    });
    expect(changesOf(update_user)).not.to.have.property('required');
    expect(find_posts?.properties).to.include.keys('slug', 'views', 'ok', 'tags');
  });

  it('omits schemas of fields if references in them would break', async () => {
    const properties = { a: { type: 'string' }, b: { $ref: '#/properties/a' } };
    await using mcp = await startMcp({ customFields: { users: { properties } } });
    const { update_user } = await inputs(await mcp.connect());
    const { changes } = (update_user as JsonObject).properties as { changes: JsonObject };
    expect(changes.properties).to.deep.include({ a: {}, b: {} });
  });

  it('has only names that clients accept, and descriptions with the others', async () => {
    const posts = {
      properties: {
        ...{ größe: { type: 'integer' }, 'seo title': {}, $x: {}, ['x'.repeat(64)]: {} },
        seo: { properties: { 'meta title': {} } },
      },
    };
    const declared = { posts: { länge: 'number', slug: 'text' } };
    const options = { customFields: { posts }, deletes: true };
    await using mcp = await startMcp(options, rostrumWith(declared));
    const client = await mcp.connect();
    const { tools } = await client.listTools();
    for (const name of namesIn(tools)) expect(name).to.match(/^[a-zA-Z0-9_.-]{1,64}$/);
    for (const { name, description } of tools) {
      const others = ' Also takes "länge", "größe", "seo title", "$x".';
      if (/^(?:create|update)_post$/.test(name)) expect(description).to.include(others);
      else expect(description).not.to.include('Also takes');
    }
    const { create_post } = await inputs(client);
    const slug = { type: ['string', 'null'], maxLength: 1000 };
    expect(create_post?.properties).to.deep.include({ slug, seo: {}, ['x'.repeat(64)]: {} });
    const fields = { größe: 5, länge: 1.5 };
    const made = await client.call('create_post', { title: 'A', key: 'a', ...fields });
    expect(made.content.post).to.include(fields);
  });

  it('has no create_post if a post must have a field that cannot be an argument', async () => {
    for (const name of ['größe', 'key']) {
      const lines: unknown[] = [];
      const logger = { info() {}, error() {}, warn: (...line: unknown[]) => lines.push(line) };
      const posts = { properties: { [name]: {} }, required: ['lang', name] };
      await using mcp = await startMcp({ customFields: { posts }, logger });
      const { create_post, update_post } = await inputs(await mcp.connect());
      expect([create_post, typeof update_post]).to.deep.equal([undefined, 'object']);
      const reason = `the post schema requires "${name}", which cannot be an argument`;
      expect(lines).to.deep.equal([
        [{ field: name }, `MCP clients get no tool create_post: ${reason}.`],
      ]);
    }
  });
});

describe('custom fields in MCP tools', () => {
  it('can be filtered, set and removed, and are validated', async () => {
    await using mcp = await startMcp({}, rostrumWith());
    const client = await mcp.connect();
    const titles = async (filter: object) => {
      const { content, text } = await client.call('find_posts', { ...filter });
      expect(content, text).to.have.property('posts');
      return content.posts.map(({ title }: { title: string }) => title).sort();
    };
    const posts = [
      { title: 'A', slug: 'a', views: 1, ok: true, tags: ['x', 'y'] },
      { title: 'B', slug: 'b', views: 20, tags: ['y'] },
    ];
    for (const post of posts) await client.call('create_post', { ...post, key: post.slug });
    expect(await titles({ slug: 'a' })).to.deep.equal(['A']);
    expect(await titles({ slug: { from: 'b' } })).to.deep.equal(['B']);
    expect(await titles({ views: { from: 1, before: 20 } })).to.deep.equal(['A']);
    expect(await titles({ views: 20 })).to.deep.equal(['B']);
    expect(await titles({ ok: true })).to.deep.equal(['A']);
    expect(await titles({ tags: 'y' })).to.deep.equal(['A', 'B']);
    expect(await titles({ tags: ['x', 'y'] })).to.deep.equal(['A']);
    for (const filter of [{ views: '1' }, { views: { form: 1 } }, { tags: [1] }, { other: 1 }]) {
      expect((await client.call('find_posts', filter)).isError).to.equal(true);
    }
    const taken = await client.call('create_post', { title: 'C', slug: 'a', key: 'c' });
    expect(taken.content.error).to.deep.include({ code: 'field-taken' });
    expect(taken.content.error.issues[0].pointer).to.equal('/slug');
    const { id } = (await client.call('find_posts', { slug: 'a' })).content.posts[0];
    const freed = await client.call('update_post', { id, version: 1, changes: { slug: null } });
    expect(freed.content.post).not.to.have.property('slug');
    const user = (await mcp.rostrum.users.create({ name: 'Ada', born: 1815 })).record;
    const args = { id: user.id, version: 1, changes: { born: null } };
    expect((await client.call('update_user', args)).content.user).not.to.have.property('born');
  });

  it('are rejected with a pointer if a value does not have the declared type', async () => {
    await using mcp = await startMcp({}, rostrumWith());
    const client = await mcp.connect();
    const post = (await mcp.rostrum.posts.create({ title: 'A' })).record;
    const user = (await mcp.rostrum.users.create({ name: 'Ada' })).record;
    const wrong = { slug: 5, views: '12', ok: 'yes', tags: ['a', 5] };
    for (const [name, value] of Object.entries(wrong)) {
      const changes = { [name]: value };
      for (const { isError, content } of [
        await client.call('create_post', { title: 'B', key: name, ...changes }),
        await client.call('update_post', { id: post.id, version: 1, changes }),
      ]) {
        const pointer = name === 'tags' ? '/tags/1' : `/${name}`;
        expect([isError, content.error.code]).to.deep.equal([true, 'invalid-record']);
        expect(content.error.issues).to.have.lengthOf(1);
        expect(content.error.issues[0]).to.include({ pointer, code: 'type' });
      }
    }
    const args = { id: user.id, version: 1, changes: { born: '1815' } };
    const { content } = await client.call('update_user', args);
    expect(content.error.issues[0]).to.include({ pointer: '/born', code: 'type' });
    const { items } = await mcp.rostrum.posts.list();
    expect(items.map(({ record, version }) => [record, version])).to.deep.equal([[post, 1]]);
  });

  it('are rejected in a filter of more than 64 elements or 32 conditions', async () => {
    const numbers = Array.from({ length: 14 }, (_, n) => [`n${n}`, 'number'] as const);
    const posts = { ...Object.fromEntries(numbers), tags: 'text[]', langs: 'text[]' };
    await using mcp = await startMcp({}, rostrumWith({ posts }));
    const client = await mcp.connect();
    const texts = (length: number) => Array.from({ length }, String);
    const ranges = Object.fromEntries(numbers.map(([name]) => [name, { from: 1, before: 2 }]));
    const others = { tags: 'a', langs: 'b', author: 'c', title_starts_with: 'd' };
    for (const [filter, message] of [
      [{ tags: texts(32), langs: texts(32) }, undefined],
      [{ tags: texts(32), langs: texts(33) }, /at most 64 elements/],
      [{ tags: texts(50_000) }, /at most 64 elements/],
      [{ ...ranges, ...others }, undefined],
      [{ ...ranges, ...others, state: 'draft' }, /at most 32 conditions/],
    ] as const) {
      const { isError, content } = await client.call('find_posts', filter);
      expect(isError).to.equal(message !== undefined);
      if (message !== undefined) expect(content.error.message).to.match(message);
    }
  });
});
