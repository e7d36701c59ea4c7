import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum, type PostInput, type Rostrum, type UserInput } from '../../../src/index.ts';
import { type McpClient, type McpServer, startMcp } from './support/mcp.ts';

/** The largest response that clients accept, in bytes. */
const maxResponse = 30_000;

describe('MCP results', () => {
  let mcp: McpServer;
  let client: McpClient;
  beforeEach(async () => {
    mcp = await startMcp();
    client = await mcp.connect();
  });
  afterEach(() => mcp[Symbol.asyncDispose]());

  const bodies = {
    'ASCII only': 'x'.repeat(100_000),
    'emoji only': '😀'.repeat(100_000),
    'emoji after a letter': `x${'😀'.repeat(99_999)}`,
    'quotation marks': '"'.repeat(100_000),
    'control characters': '\u0001'.repeat(100_000),
    'letters, then characters that take more bytes': 'x'.repeat(6000) + '\\😀'.repeat(40_000),
  };
  for (const [what, body] of Object.entries(bodies)) {
    it(`return a long body in slices: ${what}`, async () => {
      const { id } = (await mcp.rostrum.posts.create({ title: 'T', body })).record;
      let text = '';
      let from: number | null = 0;
      for (let calls = 0; from !== null; calls++) {
        const { content, bytes } = await client.call('get_post', { id, from });
        const { body: part } = content.post;
        expect(bytes).to.be.at.most(maxResponse);
        expect(Buffer.byteLength(JSON.stringify(part))).to.be.at.most(10_000);
        expect(part.isWellFormed(), 'no lone surrogates').to.equal(true);
        expect(content.slice).to.deep.include({ from, length: [...body].length });
        if (content.slice.next !== null) expect(part.length).to.be.greaterThan(1000);
        text += part;
        from = content.slice.next;
        expect(calls).to.be.at.most(200);
      }
      expect(text === body).to.equal(true);
      const beyond = await client.call('get_post', { id, from: 200_000 });
      expect(beyond.content.post.body).to.equal('');
      expect(beyond.content.slice.next).to.equal(null);
    });
  }

  it('stay below 30 kB in a conflict over a long body, and return only its start after an update', async () => {
    for (const body of Object.values(bodies)) {
      const title = '"'.repeat(300);
      const { id } = (await mcp.rostrum.posts.create({ title, body })).record;
      const changed = await client.call('update_post', { id, version: 1, changes: { n: 1 } });
      expect([...changed.content.post.body]).to.have.length(200);
      expect(changed.bytes).to.be.at.most(6000);
      const stale = await client.call('update_post', { id, version: 1, changes: { n: 2 } });
      expect(stale.content.error.code).to.equal('version-mismatch');
      expect(stale.content.slice.next).to.be.a('number');
      expect(stale.content.post.body.length).to.be.greaterThan(1000);
      expect(stale.bytes).to.be.at.most(maxResponse);
    }
  });

  const titles = {
    ASCII: ['x', true],
    emoji: ['😀', false],
    'quotation marks': ['"', false],
  } as const;
  for (const [what, [letter, fits]] of Object.entries(titles)) {
    it(`page through 20 posts with the longest titles and bodies: ${what}`, async () => {
      const ids: string[] = [];
      for (let n = 0; n < 20; n++) {
        const post = { title: letter.repeat(300), body: letter.repeat(1000) };
        ids.unshift((await mcp.rostrum.posts.create(post)).record.id);
      }
      const found: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const { content, bytes } = await client.call('find_posts', { limit: 20, cursor });
        expect(bytes).to.be.at.most(maxResponse);
        for (const { id, title, excerpt } of content.posts) {
          expect([[...title].length, [...excerpt].length]).to.deep.equal([300, 200]);
          found.push(id);
        }
        cursor = content.next ?? undefined;
        pages += 1;
      } while (cursor !== undefined);
      expect(found).to.deep.equal(ids);
      expect(pages === 1).to.equal(fits);
    });
  }

  it('page through records with the longest ids', async () => {
    const store = createMemoryStore();
    let count = 0;
    const ids = { next: () => `${String(count++).padStart(3, '0')} ${'語'.repeat(251)}` };
    await using own = await startMcp({}, createRostrum(store, { ids }) as Rostrum);
    const agent = await own.connect();
    const author = (await own.rostrum.users.create({ name: '😀'.repeat(200) })).record.id;
    for (let n = 0; n < 20; n++) {
      await own.rostrum.posts.create({ title: '😀'.repeat(300), authorId: author });
    }
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const { content, bytes } = await agent.call('find_posts', { cursor });
      expect(bytes).to.be.at.most(maxResponse);
      found.push(...content.posts.map(({ id }: { id: string }) => id));
      cursor = content.next ?? undefined;
    } while (cursor !== undefined);
    expect(new Set(found).size).to.equal(20);
    const { content } = await agent.call('find_users');
    expect(content.users[0].id).to.equal(author);
  });

  it('contain small custom fields, and list the names of omitted large ones', async () => {
    const many = Object.fromEntries([...Array(2000)].map((_, n) => [`f${n}`, 'x'.repeat(400)]));
    const custom = { large: '"'.repeat(20_000), small: [1], ...many };
    const { id } = (
      await mcp.rostrum.posts.create({ title: 'T', body: 'b', ...custom } as PostInput)
    ).record;
    const { content, bytes } = await client.call('get_post', { id });
    expect(bytes).to.be.at.most(maxResponse);
    expect(content.post)
      .to.deep.include({ small: [1], body: 'b' })
      .and.not.to.have.property('large');
    expect(content.omitted).to.include('large');
    const user = (await mcp.rostrum.users.create({ name: 'A', ...custom } as UserInput)).record;
    const read = await client.call('get_user', { id: user.id });
    expect(read.bytes).to.be.at.most(maxResponse);
    expect(read.content.omitted).to.include('large');
  });

  it('contain as many validation issues as fit', async () => {
    const key = (n: number) => String(n).padStart(64, '😀');
    const fields = Object.fromEntries([...Array(100)].map((_, n) => [key(n), { a: 2 ** 53 }]));
    const { id } = (await mcp.rostrum.posts.create({ title: 'T' })).record;
    const { content, bytes } = await client.call('update_post', {
      id,
      version: 1,
      changes: fields,
    });
    expect(bytes).to.be.at.most(maxResponse);
    expect(content.error.issues.length).to.be.greaterThan(10);
  });
});
