import { expect } from 'chai';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import {
  createRostrum,
  type HostRules,
  isRostrumError,
  type JudgedChange,
  type PostInput,
  RostrumError,
  refused,
  type UserInput,
} from '../src/index.ts';
import { type Api, startApi } from './adapters/http/support/api.ts';
import { as, authenticate } from './adapters/http/support/callers.ts';
import { startMcp } from './adapters/mcp/support/mcp.ts';
import { errorOf } from './support/error-of.ts';

const reason = 'Only editors publish.';

/** Rejects the publication of posts, and users without a city, unless the program itself makes the change. */
const rules: HostRules = {
  posts: ({ before, after, caller }) => {
    const isPublished = after !== undefined && after.publishedAt !== null;
    if (isPublished && before?.publishedAt !== after.publishedAt && caller !== undefined) {
      throw refused(reason);
    }
  },
  users: ({ after, caller }) => {
    if (caller !== undefined && after?.city === null) throw refused('Where do you live?');
  },
};
const now = '2026-11-21T09:30:00.000Z';
const scopes = ['posts:write', 'posts:read:all', 'users:write', 'users:write:own'] as const;

const outcome = async (call: Promise<unknown>) => {
  const error = await errorOf(call);
  return isRostrumError(error) ? `${error.code}: ${error.message}` : error;
};

describe('a rule of the host', () => {
  const store = createMemoryStore();
  const rostrum = createRostrum(store, { rules });
  const { users, posts } = rostrum.as({ name: 'ada', subject: 'ada', scopes });
  let api: Api;
  let draft: string;
  const versionOf = async () => (await rostrum.posts.get(draft)).version;

  before(async () => {
    await users.saveOwn({ name: 'Ada' });
    draft = (await rostrum.posts.create({ title: 'x', publishedAt: null })).id;
    api = await startApi({ store, core: { rules }, app: { authenticate } });
  });
  after(() => api[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(await versionOf()).to.equal(1);
    expect((await rostrum.posts.list({ total: true })).total).to.equal(1);
  });

  it('judges every way to change a post in the library', async () => {
    for (const call of [
      posts.create({ title: 'x' }),
      posts.replace(draft, { title: 'x', publishedAt: now }),
      posts.patch(draft, { publishedAt: now }),
      posts.update(draft, (post) => ({ ...post, publishedAt: now }) as PostInput),
    ]) {
      expect(await outcome(call)).to.equal(`refused: ${reason}`);
    }
  });

  it('judges every way to change a user', async () => {
    const wrong = { name: 'Ada', city: null } as UserInput;
    for (const call of [
      users.create(wrong),
      users.saveOwn(wrong),
      users.replace('ada', wrong),
      users.update('ada', () => wrong),
      rostrum.as({ name: 'bob', subject: 'bob', scopes }).users.saveOwn(wrong),
    ]) {
      expect(await outcome(call)).to.equal('refused: Where do you live?');
    }
    expect((await rostrum.users.get('ada')).version).to.equal(1);
  });

  it('judges every way to change a post over HTTP: 409 with the reason', async () => {
    const headers = as({ subject: 'ada', scopes });
    const published = { title: 'x', publishedAt: now };
    for (const [method, path] of [
      ['POST', '/posts'],
      ['PUT', `/posts/${draft}`],
      ['PATCH', `/posts/${draft}`],
    ] as const) {
      const { status, body } = await api.send(method, path, headers, published);
      expect([status, body.code, body.reason], method).to.deep.equal([409, 'refused', reason]);
    }
  });

  it('judges the tools of MCP', async () => {
    await using mcp = await startMcp({}, rostrum as Parameters<typeof startMcp>[1]);
    const agent = await mcp.connect({ name: 'ada', subject: 'ada', scopes: new Set(scopes) });
    const changes = { publishedAt: now };
    for (const [tool, args] of [
      ['create_post', { title: 'x', key: 'k', publish: true }],
      ['update_post', { id: draft, version: 1, changes }],
    ] as const) {
      const { isError, content } = await agent.call(tool, args);
      expect([isError, content.error.message], tool).to.deep.equal([true, reason]);
    }
  });
});

describe('rules of the host', () => {
  it('see the record before and after a change, and the caller', async () => {
    const seen: JudgedChange<object>[] = [];
    const see = (change: JudgedChange<object>) => {
      seen.push(change);
    };
    const rostrum = createRostrum(createMemoryStore(), { rules: { users: see, posts: see } });
    const { id } = await rostrum.users.create({ name: 'Ada' });
    const ada = rostrum.as({ name: 'ada', subject: id, scopes: ['users:write:own'] });
    await ada.users.saveOwn({ name: 'Ada L.' });
    await ada.users.saveOwn({ name: 'Ada L.' }); // Changes nothing.
    const post = await rostrum.posts.create({ title: 'x', authorId: id });
    await rostrum.posts.delete(post.id);
    await rostrum.users.delete(id);
    const shown = seen.map(({ before, after, caller }) => [before, after, caller?.name]);
    const name = (record: unknown) => Object(record).name ?? Object(record).title;
    expect(shown.map(([before, after, by]) => [name(before), name(after), by])).to.deep.equal([
      [undefined, 'Ada', undefined],
      ['Ada', 'Ada L.', 'ada'],
      [undefined, 'x', undefined],
      ['x', undefined, undefined],
      ['Ada L.', undefined, undefined],
    ]);
  });

  it('prevent a deletion, but are not asked for posts that go with their author', async () => {
    const posts = ({ after }: JudgedChange<object>) => {
      if (after === undefined) throw refused('Posts stay.');
    };
    const rostrum = createRostrum(createMemoryStore(), { rules: { posts } });
    const { id: authorId } = await rostrum.users.create({ name: 'Ada' });
    const { id } = await rostrum.posts.create({ title: 'x', authorId });
    expect(await outcome(rostrum.posts.delete(id))).to.equal('refused: Posts stay.');
    expect(await rostrum.users.delete(authorId, { posts: 'delete' })).to.deep.equal({ posts: 1 });
  });

  it('leave a repeated creation as it was, with a quota of unique values', async () => {
    const declaredFields = { posts: { slot: { type: 'text', unique: true } } } as const;
    const { posts } = createRostrum(createMemoryStore({ declaredFields }), {
      rules: {
        posts: ({ after }) => {
          if (after && !['1', '2'].includes(after.slot ?? '')) throw refused('Slots are 1 and 2.');
        },
      },
    });
    const create = (slot: string, idempotencyKey: string) =>
      outcome(posts.create({ title: 'x', slot }, { idempotencyKey }));
    const said = [await create('1', 'a'), await create('1', 'a'), await create('1', 'b')];
    expect(said).to.deep.equal([
      undefined,
      undefined,
      'field-taken: Another record already has this value of "slot".',
    ]);
    expect(await create('3', 'c')).to.equal('refused: Slots are 1 and 2.');
    expect((await posts.list({ total: true })).total).to.equal(1);
  });

  it('hide every other error, and must be synchronous functions', async () => {
    const failing = (thrown: unknown) => {
      const users = () => {
        throw thrown;
      };
      return createRostrum(createMemoryStore(), { rules: { users } }).users.create({ name: 'Ada' });
    };
    for (const thrown of [new Error('x'), new RostrumError('user-not-found', { id: 'u' })]) {
      const error = (await errorOf(failing(thrown))) as Error;
      expect([isRostrumError(error), error.cause]).to.deep.equal([false, thrown]);
    }
    const users = (async () => {}) as () => void;
    const late = createRostrum(createMemoryStore(), { rules: { users } });
    expect(await errorOf(late.users.create({ name: 'Ada' }))).to.be.instanceOf(TypeError);
    for (const wrong of [{ users: 5 }, { post: () => {} }, []] as object[]) {
      expect(() => createRostrum(createMemoryStore(), { rules: wrong })).to.throw(TypeError);
    }
  });
});
