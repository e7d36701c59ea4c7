import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import {
  createRostrum,
  isRostrumError,
  type Rostrum,
  type Scope,
  scopes,
} from '../../src/index.ts';

const caller = (subject: string | null, ...given: readonly Scope[]) => ({
  name: 'tester',
  subject,
  scopes: new Set(given),
});

/** A user with a post, another user with one, and a post without an author. */
async function world() {
  const rostrum = createRostrum(createMemoryStore());
  const me = (await rostrum.users.create({ name: 'Me' })).record.id;
  const other = (await rostrum.users.create({ name: 'Other' })).record.id;
  const mine = (await rostrum.posts.create({ title: 'Mine', authorId: me })).record.id;
  const theirs = (await rostrum.posts.create({ title: 'Theirs', authorId: other })).record.id;
  const nobodys = (await rostrum.posts.create({ title: 'Free' })).record.id;
  return { rostrum, me, other, mine, theirs, nobodys };
}

type World = Awaited<ReturnType<typeof world>>;

/** A call, and the scopes each of which allows it to the user `me`. */
type Row = readonly [
  name: string,
  call: (bound: Rostrum, world: World) => Promise<unknown>,
  allowed: readonly Scope[],
];

const anyPost: readonly Scope[] = ['posts:write'];
const ownPost: readonly Scope[] = ['posts:write', 'posts:write:own'];
const anyUser: readonly Scope[] = ['users:write'];
const ownUser: readonly Scope[] = ['users:write', 'users:write:own'];
const anyReader: readonly Scope[] = ['users:read', 'users:read:public'];
const postReader: readonly Scope[] = ['posts:read', 'posts:read:all'];
const changed = { title: 'x' };
const postOf = (authorId: string | null) => ({ title: 'x', authorId });

const matrix: readonly Row[] = [
  ['read a user', ({ users }, { other }) => users.get(other), ['users:read']],
  ['list users', ({ users }) => users.list(), ['users:read']],
  ['walk users', ({ users }) => users.all().next(), ['users:read']],
  ['read the own user', ({ users }, { me }) => users.get(me), ['users:read', 'users:write:own']],
  ['read a user in public', ({ users }, w) => users.getPublic(w.other), anyReader],
  ['list users in public', ({ users }) => users.listPublic(), anyReader],
  ['save the own user', ({ users }) => users.saveOwn({ name: 'x' }), ownUser],
  ['read a post', ({ posts }, { theirs }) => posts.get(theirs), postReader],
  ['list posts', ({ posts }) => posts.list(), postReader],
  ['list posts with authors', ({ posts }) => posts.listWithAuthors(), postReader],
  ['create a user', ({ users }) => users.create({ name: 'New' }), anyUser],
  ['patch the own user', ({ users }, { me }) => users.patch(me, { name: 'x' }), ownUser],
  ['patch another user', ({ users }, { other }) => users.patch(other, { name: 'x' }), anyUser],
  ['replace another user', ({ users }, w) => users.replace(w.other, { name: 'x' }), anyUser],
  ['update another user', ({ users }, w) => users.update(w.other, (user) => user), anyUser],
  ['delete another user', ({ users }, { other }) => users.delete(other), anyUser],
  ['create a post', ({ posts }) => posts.create(changed), ownPost],
  ['create its post', ({ posts }, { me }) => posts.create(postOf(me)), ownPost],
  ['create that of another', ({ posts }, w) => posts.create(postOf(w.other)), anyPost],
  ['create a post without an author', ({ posts }) => posts.create(postOf(null)), anyPost],
  ['patch its post', ({ posts }, { mine }) => posts.patch(mine, changed), ownPost],
  ['delete its post', ({ posts }, { mine }) => posts.delete(mine), ownPost],
  ['patch the post of another', ({ posts }, w) => posts.patch(w.theirs, changed), anyPost],
  ['patch a post without an author', ({ posts }, w) => posts.patch(w.nobodys, changed), anyPost],
  ['delete the post of another', ({ posts }, { theirs }) => posts.delete(theirs), anyPost],
  ['take the post of another', ({ posts }, w) => posts.patch(w.theirs, postOf(w.me)), anyPost],
  ['give its post away', ({ posts }, w) => posts.patch(w.mine, postOf(w.other)), anyPost],
  ['leave its post', ({ posts }, { mine }) => posts.patch(mine, postOf(null)), anyPost],
  ['replace its post by a free one', ({ posts }, w) => posts.replace(w.mine, changed), anyPost],
];

async function isForbidden(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return false;
  } catch (error) {
    if (isRostrumError(error, 'forbidden')) return true;
    if (isRostrumError(error)) return false;
    throw error;
  }
}

describe('a caller', () => {
  for (const [name, call, allowed] of matrix) {
    it(`can ${name} with ${allowed.join(' or ')}, and with no other scope`, async () => {
      for (const scope of scopes) {
        const here = await world();
        const bound = here.rostrum.as(caller(here.me, scope));
        const expected = !allowed.includes(scope);
        expect(await isForbidden(() => call(bound, here)), scope).to.equal(expected);
      }
      const here = await world();
      expect(await isForbidden(() => call(here.rostrum.as(caller(here.me)), here))).to.equal(true);
      const all = here.rostrum.as(caller(null, ...scopes));
      const isOfNobody = name === 'save the own user';
      expect(await isForbidden(() => call(all, here)), 'all scopes').to.equal(isOfNobody);
    });
  }

  it('owns nothing without a subject, not even posts without an author', async () => {
    const here = await world();
    const bound = here.rostrum.as(caller(null, 'users:write:own', 'posts:write:own'));
    const calls = [
      () => bound.posts.patch(here.nobodys, { title: 'x' }),
      () => bound.posts.create({ title: 'x' }),
      () => bound.posts.create({ title: 'x', authorId: null }),
      () => bound.users.patch(here.me, { name: 'x' }),
      () => bound.users.delete(here.me, { posts: 'keep' }),
    ];
    for (const call of calls) expect(await isForbidden(call)).to.equal(true);
  });

  it('is the author of its new posts, unless the input names another author', async () => {
    const here = await world();
    const bound = here.rostrum.as(caller(here.me, 'posts:write'));
    expect((await bound.posts.create({ title: 'x' })).record.authorId).to.equal(here.me);
    const free = await bound.posts.create({ title: 'x', authorId: null });
    expect(free.record.authorId).to.equal(null);
  });

  it('needs the right to write all posts to delete or keep them with their author', async () => {
    for (const posts of ['delete', 'keep'] as const) {
      const here = await world();
      const alone = here.rostrum.as(caller(here.me, 'users:write', 'posts:write:own'));
      expect(await isForbidden(() => alone.users.delete(here.other, { posts }))).to.equal(true);
      expect((await here.rostrum.posts.get(here.theirs)).record.authorId).to.equal(here.other);
      expect(await isForbidden(() => alone.users.delete(here.me, { posts }))).to.equal(false);
    }
  });

  it('gets forbidden for a missing scope before the record is read, and for ownership afterwards', async () => {
    const here = await world();
    const code = (call: Promise<unknown>) =>
      call.catch((error: unknown) => (isRostrumError(error) ? error.code : error));
    const none = here.rostrum.as(caller(here.me, 'users:read'));
    expect(await code(none.posts.patch('none', {}))).to.equal('forbidden');
    const own = here.rostrum.as(caller(here.me, 'posts:write:own'));
    const reader = here.rostrum.as(caller(here.me, 'posts:write:own', 'posts:read'));
    expect(await code(reader.posts.patch('none', {}))).to.equal('post-not-found');
    const stale = own.posts.patch(here.theirs, { title: '' }, { only: [7] });
    expect(await code(stale)).to.equal('forbidden');
  });

  it('with only :own scopes, gets the same error for a missing record and for someone else’s', async () => {
    const here = await world();
    const own = here.rostrum.as(caller(here.me, 'posts:write:own', 'users:write:own'));
    const told = async (call: Promise<unknown>) => {
      const error = await call.catch((reason: unknown) => reason);
      return isRostrumError(error) ? [error.code, error.message] : error;
    };
    const calls = [
      (id: string) => own.posts.patch(id, { title: 'x' }),
      (id: string) => own.posts.replace(id, { title: 'x' }),
      (id: string) => own.posts.delete(id),
    ];
    for (const call of calls) {
      const refusal = await told(call(here.theirs));
      expect(refusal).to.deep.equal([
        'forbidden',
        'This record belongs to someone else. Changing it requires the scope posts:write.',
      ]);
      expect(await told(call('none'))).to.deep.equal(refusal);
    }
    expect(await told(own.users.delete('none'))).to.deep.equal(
      await told(own.users.delete(here.other)),
    );
    await here.rostrum.users.delete(here.me, { posts: 'delete' });
    expect(await told(own.users.patch(here.me, {}))).to.include('user-not-found');
  });

  it('cannot learn from an error whether an author exists', async () => {
    const here = await world();
    const own = here.rostrum.as(caller(here.me, 'posts:write:own'));
    for (const authorId of [here.other, 'none', null, 1]) {
      const wrong = { title: '', authorId } as { title: string };
      expect(await isForbidden(() => own.posts.patch(here.mine, wrong))).to.equal(true);
      expect(await isForbidden(() => own.posts.replace(here.mine, wrong))).to.equal(true);
    }
  });

  it('learns how many posts a user has only if it can see all of them', async () => {
    const here = await world();
    const posts = async (id: string, ...given: Scope[]) => {
      const call = here.rostrum.as(caller(here.me, ...given)).users.delete(id);
      const error = await call.catch((reason: unknown) => reason);
      return isRostrumError(error, 'user-has-posts') ? error.details.posts : error;
    };
    expect(await posts(here.other, 'users:write')).to.equal(undefined);
    expect(await posts(here.other, 'users:write', 'posts:read')).to.equal(undefined);
    expect(await posts(here.other, 'users:write', 'posts:write')).to.equal(undefined);
    expect(await posts(here.other, 'users:write', 'posts:read', 'posts:write')).to.equal(1);
    expect(await posts(here.other, 'users:write', 'posts:read:all')).to.equal(1);
    expect(await posts(here.me, 'users:write:own', 'posts:read')).to.equal(1);
    expect(await posts(here.me, 'users:write:own')).to.equal(undefined);
  });

  it('sees public posts and its own', async () => {
    let now = '2030-01-01T00:00:00.000Z';
    const rostrum = createRostrum(createMemoryStore(), { clock: { now: () => now } });
    const me = (await rostrum.users.create({ name: 'Me' })).record.id;
    const other = (await rostrum.users.create({ name: 'Other' })).record.id;
    const soon = '2030-01-01T00:00:00.001Z';
    for (const [title, authorId] of Object.entries({ m: me, o: other, n: null })) {
      await rostrum.posts.create({ title: `${title} public`, authorId });
      await rostrum.posts.create({ title: `${title} scheduled`, authorId, publishedAt: soon });
      await rostrum.posts.create({ title: `${title} draft`, authorId, publishedAt: null });
    }
    const all = (await rostrum.posts.list({ order: { by: 'title', direction: 'asc' } })).items;
    const isNotThere = (error: unknown) => {
      if (!isRostrumError(error, 'post-not-found')) throw error;
      return false;
    };
    /** What is seen one by one, and in a list, which has the public posts of all and the total. */
    const seen = async (subject: string | null, ...given: Scope[]) => {
      const { posts } = rostrum.as(caller(subject, ...given));
      const gets = all.map(({ record }) => posts.get(record.id).then(() => true, isNotThere));
      const ones = await Promise.all(gets);
      const lists = await posts.list({ total: true });
      const drafts = await posts.list({ filter: { publishedAt: null } });
      const own = await posts.list({ filter: { authorId: me, publishedAt: null } });
      expect(lists.total).to.equal(lists.items.length);
      const counts = [lists, drafts, own].map(({ items }) => items.length).join(' ');
      return `${ones.map(Number).join('')} ${counts}`;
    };
    // By title: those of the caller, of nobody, of the other; each a draft, the public, the scheduled.
    expect(await seen(me, 'posts:read')).to.equal('111010010 3 0 1');
    expect(await seen(null, 'posts:read')).to.equal('010010010 3 0 0');
    for (const given of [['posts:read:all'], ['posts:read', 'posts:write']] as Scope[][]) {
      expect(await seen(null, ...given)).to.equal('111111111 9 3 1');
    }
    now = soon;
    expect(await seen(null, 'posts:read')).to.equal('011011011 6 0 0');
  });

  it('cannot change a post that it cannot see, and gets not-found', async () => {
    const { rostrum, me, other } = await world();
    const input = { title: 'Draft', authorId: other, publishedAt: null };
    const draft = (await rostrum.posts.create(input)).record.id;
    const { posts } = rostrum.as(caller(me, 'posts:read', 'posts:write:own'));
    const calls = [
      posts.get(draft),
      posts.patch(draft, { title: '' }, { only: [7] }),
      posts.replace(draft, { title: 'x' }, { required: true }),
      posts.update(draft, (post) => post),
      posts.delete(draft),
    ];
    for (const call of calls) {
      const error = await call.catch((reason: unknown) => reason);
      expect(isRostrumError(error, 'post-not-found')).to.equal(true);
    }
  });

  it('cannot filter or sort by fields that the public view hides', async () => {
    const filters = { users: { city: 'text', secret: 'number' } } as const;
    const store = createMemoryStore({ declaredFields: filters });
    const rostrum = createRostrum(store, { publicUserFields: ['city'] });
    const ann = { name: 'Ann', email: 'ann@x.org', city: 'Bonn', secret: 5 };
    const { record } = await rostrum.users.create(ann);
    const { users } = rostrum.as(caller(null, 'users:read:public'));
    const { id, createdAt } = record;
    const shown = { id, createdAt, name: 'Ann', city: 'Bonn' };
    expect((await users.getPublic(id)).record).to.deep.equal(shown);
    const { items } = await users.listPublic({ fields: ['name', 'secret', 'email'] });
    expect(items.map((item) => JSON.parse(item.json))).to.deep.equal([{ id, name: 'Ann' }]);
    const isRefused = (request: Parameters<typeof users.listPublic>[0]) =>
      isForbidden(() => users.listPublic(request));
    const span = { from: createdAt };
    const open = [{ city: 'x' }, { nameStartsWith: 'a' }, { createdAt: span }];
    for (const filter of [{}, { ids: [id] }, { name: 'Ann' }, ...open]) {
      expect(await isRefused({ filter }), JSON.stringify(filter)).to.equal(false);
    }
    const hidden = [{ secret: 5 }, { updatedAt: span }];
    for (const filter of [...hidden, { email: 'a@x.org' }, { emailStartsWith: '' }]) {
      expect(await isRefused({ filter }), JSON.stringify(filter)).to.equal(true);
    }
    for (const by of ['email', 'updatedAt'] as const) {
      expect(await isRefused({ order: { by, direction: 'asc' } })).to.equal(true);
    }
  });

  it('cannot learn the size of hidden fields from where a public page ends', async () => {
    const rostrum = createRostrum(createMemoryStore(), { publicUserFields: ['about'] });
    const { users } = rostrum.as(caller(null, 'users:read:public'));
    const quarter = 'x'.repeat(250_000);
    for (let n = 0; n < 6; n++) await rostrum.users.create({ name: `${n}`, secret: quarter });
    const order = { by: 'name', direction: 'asc' } as const;
    const names = async (limit: number) => {
      const { items, next, total } = await users.listPublic({ order, limit, total: true });
      return [items.map(({ record }) => record.name).join(''), next?.key, total];
    };
    expect(await names(100)).to.deep.equal(['012345', undefined, 6]);
    expect(await names(5)).to.deep.equal(['01234', '4', 6]);
    // It still ends where it shows too much.
    for await (const { record } of rostrum.users.all()) {
      await rostrum.users.patch(record.id, { about: quarter });
    }
    expect(await names(100)).to.deep.equal(['0123', '3', 6]);
  });

  it('creates its own user with its subject as the id, again after a deletion', async () => {
    const { rostrum } = await world();
    const { users, posts } = rostrum.as(caller('auth|1', 'users:write:own', 'posts:write:own'));
    const early = await posts.create({ title: 'x' }).catch((reason: unknown) => reason);
    expect(early).to.have.nested.property('details.reason', 'no-user');
    const code = (call: Promise<unknown>) =>
      call.then(
        () => 'done',
        (error: unknown) => (isRostrumError(error) ? error.code : error),
      );
    expect(await code(users.saveOwn({ name: 'A' }, { only: 'any' }))).to.equal('version-mismatch');
    const made = await users.saveOwn({ name: 'A' }, { except: 'any', required: true });
    expect([made.created, made.changed, made.record.id]).to.deep.equal([true, true, 'auth|1']);
    const again = await users.saveOwn({ name: 'A' });
    expect([again.created, again.changed, again.version]).to.deep.equal([false, false, 1]);
    const second = await users.saveOwn({ name: 'B' }, { only: [1] });
    expect([second.created, second.changed, second.version]).to.deep.equal([false, true, 2]);
    expect(await code(users.saveOwn({ name: 'C' }, { only: [1] }))).to.equal('version-mismatch');
    expect(await code(users.saveOwn({ name: 'C' }, { except: 'any' }))).to.equal(
      'version-mismatch',
    );
    expect(await code(users.saveOwn({ name: 'C' }, { required: true }))).to.equal(
      'precondition-required',
    );
    expect(await code(users.saveOwn({ name: '' }))).to.equal('invalid-record');
    expect(await code(posts.create({ title: 'x' }))).to.equal('done');
    await users.delete('auth|1', { posts: 'delete' });
    const back = await users.saveOwn({ name: 'A' });
    expect([back.created, back.version], 'after a deletion').to.deep.equal([true, 3]);
  });

  it('cannot have a user if its subject is not a valid id', async () => {
    const { rostrum } = await world();
    for (const subject of ['me', 'a\u0000', 'a\n', '\u009f', 'a'.repeat(256), '\ud800']) {
      const { users } = rostrum.as(caller(subject, ...scopes));
      const error = await users.saveOwn({ name: 'x' }).catch((reason: unknown) => reason);
      expect(isRostrumError(error, 'forbidden') && error.details.reason).to.equal('no-id');
    }
    for (const subject of ['Me', 'a b/c', '😀'.repeat(255), 'mel']) {
      const { users } = rostrum.as(caller(subject, 'users:write:own'));
      expect((await users.saveOwn({ name: 'x' })).record.id).to.equal(subject);
    }
  });

  it('creates posts without an author if it has no user, also under an idempotency key', async () => {
    const { rostrum } = await world();
    const bound = rostrum.as(caller('no user', 'posts:write'));
    const key = { idempotencyKey: 'k' };
    const made = await bound.posts.create({ title: 'x' }, key);
    expect(made.record.authorId).to.equal(null);
    const again = await bound.posts.create({ title: 'x' }, key);
    expect([again.replayed, again.record.id]).to.deep.equal([true, made.record.id]);
    const isInvalid = (error: unknown) => isRostrumError(error, 'invalid-record');
    expect(await bound.posts.create(postOf('no user')).catch(isInvalid)).to.equal(true);
    const own = rostrum.as(caller('no user', 'posts:write:own')).posts.create({ title: 'x' });
    expect(await own.catch(isInvalid)).to.equal(true);
  });

  it('has idempotency keys of its own', async () => {
    const { rostrum } = await world();
    const key = { idempotencyKey: 'k' };
    const as = (name: string) => rostrum.as({ ...caller(null, 'posts:write'), name });
    await as('one').posts.create({ title: 'x' }, key);
    expect((await as('one').posts.create({ title: 'x' }, key)).replayed).to.equal(true);
    expect((await as('two').posts.create({ title: 'x' }, key)).replayed).to.equal(false);
    const pretending = as('two').posts.create({ title: 'x' }, { ...key, caller: 'three' });
    expect((await pretending).replayed).to.equal(true);
    expect((await rostrum.posts.list({ total: true, filter: { title: 'x' } })).total).to.equal(2);
  });

  it('must have a name, a subject and scopes, and nothing else', async () => {
    const { rostrum } = await world();
    const wrong: unknown[] = [
      undefined,
      null,
      'root',
      {},
      { name: '', subject: null, scopes: new Set() },
      { name: ' \n', subject: null, scopes: new Set() },
      { name: 'x', scopes: new Set() },
      { name: 'x', subject: '', scopes: new Set() },
      { name: 'x', subject: null, scopes: 'posts:write' },
      { name: 'x', subject: null, scopes: { 0: 'posts:write' } },
      { name: 'x', subject: null, scopes: ['admin'] },
      { name: 'x', subject: null, scopes: [], label: 7 },
      { name: 'x', subject: null, scopes: new Set(['admin']) },
      { name: 'x', subject: null, scopes: new Set(), admin: true },
    ];
    for (const value of wrong) expect(() => rostrum.as(value as never)).to.throw(TypeError);
  });

  it('can pass its scopes as any iterable, even one that iterates only once', async () => {
    const { rostrum } = await world();
    const given = ['posts:write'] as const;
    for (const scopes of [given, given.values(), new Map([[given[0], 1]]).keys()]) {
      const { posts } = rostrum.as({ name: 'x', subject: null, scopes });
      for (const title of ['a', 'b']) await posts.create({ title });
      expect(await isForbidden(() => posts.list())).to.equal(true);
    }
  });
});
