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

describe('the list of MCP tools', () => {
  it('is at most 6 kB long, or 30 kB with a custom field schema', async () => {
    const property = { type: 'string', description: 'What it is. '.repeat(10), maxLength: 100 };
    const schema = (count: number) => ({
      properties: Object.fromEntries([...Array(count)].map((_, n) => [`field_${n}`, property])),
      required: [...Array(count)].map((_, n) => `field_${n}`),
    });
    const sizes: number[] = [];
    for (const count of [0, 1, 50, 90, 5000]) {
      const customFields = count === 0 ? {} : { users: schema(count), posts: schema(count) };
      await using mcp = await startMcp({ deletes: true, customFields }, rostrumWith());
      const client = await mcp.connect();
      await client.listTools();
      sizes.push(client.bytes);
    }
    expect(sizes[0]).to.be.at.most(6000);
    for (const size of sizes) expect(size).to.be.at.most(30_000);
    expect(sizes[2]).to.be.greaterThan(20_000); // All 50 fields are described.
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
    const { create_post, update_user, find_posts } = await inputs(await mcp.connect());
    expect(create_post?.properties).to.deep.include({
      ...{ lang: { enum: ['en', 'eo'] }, slug: { $ref: '#/$defs/slug' } },
      ...{ views: { description: 'number' }, tags: { description: 'text[]' } },
    });
    expect(create_post).to.deep.include({ required: ['lang', 'title', 'key'], $defs: posts.$defs });
    const { changes } = (update_user as JsonObject).properties as { changes: JsonObject };
    expect(changes.properties).to.deep.equal(users.properties);
    expect(changes).not.to.have.property('required');
    expect(find_posts?.properties).to.include.keys('slug', 'views', 'ok', 'tags');
  });

  it('omits schemas of fields if references in them would break', async () => {
    const properties = { a: { type: 'string' }, b: { $ref: '#/properties/a' } };
    await using mcp = await startMcp({ customFields: { users: { properties } } });
    const { update_user } = await inputs(await mcp.connect());
    const { changes } = (update_user as JsonObject).properties as { changes: JsonObject };
    expect(changes.properties).to.deep.equal({ a: {}, b: {} });
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
});
