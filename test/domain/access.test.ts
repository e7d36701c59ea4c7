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
const itself: readonly Scope[] = ['users:write', 'users:write:own'];
const changed = { title: 'x' };
const postOf = (authorId: string | null) => ({ title: 'x', authorId });

const matrix: readonly Row[] = [
  ['read a user', ({ users }, { other }) => users.get(other), ['users:read']],
  ['list users', ({ users }) => users.list(), ['users:read']],
  ['walk users', ({ users }) => users.all().next(), ['users:read']],
  ['read a post', ({ posts }, { theirs }) => posts.get(theirs), ['posts:read']],
  ['list posts', ({ posts }) => posts.list(), ['posts:read']],
  ['create a user', ({ users }) => users.create({ name: 'New' }), anyUser],
  ['patch itself', ({ users }, { me }) => users.patch(me, { name: 'x' }), itself],
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
    it(`may ${name} by ${allowed.join(' or ')} alone`, async () => {
      for (const scope of scopes) {
        const here = await world();
        const bound = here.rostrum.as(caller(here.me, scope));
        const expected = !allowed.includes(scope);
        expect(await isForbidden(() => call(bound, here)), scope).to.equal(expected);
      }
      const here = await world();
      expect(await isForbidden(() => call(here.rostrum.as(caller(here.me)), here))).to.equal(true);
      const all = here.rostrum.as(caller(null, ...scopes));
      expect(await isForbidden(() => call(all, here)), 'all scopes').to.equal(false);
    });
  }

  it('owns nothing without a subject, and not what has no owner', async () => {
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

  it('is the author of what it creates, unless it says otherwise', async () => {
    const here = await world();
    const bound = here.rostrum.as(caller(here.me, 'posts:write'));
    expect((await bound.posts.create({ title: 'x' })).record.authorId).to.equal(here.me);
    const free = await bound.posts.create({ title: 'x', authorId: null });
    expect(free.record.authorId).to.equal(null);
  });

  it('deletes or frees the posts of a user only by a right to write them all', async () => {
    for (const posts of ['delete', 'keep'] as const) {
      const here = await world();
      const alone = here.rostrum.as(caller(here.me, 'users:write', 'posts:write:own'));
      expect(await isForbidden(() => alone.users.delete(here.other, { posts }))).to.equal(true);
      expect((await here.rostrum.posts.get(here.theirs)).record.authorId).to.equal(here.other);
      expect(await isForbidden(() => alone.users.delete(here.me, { posts }))).to.equal(false);
    }
  });

  it('is told of a missing scope before anything is read, of ownership after what is missing', async () => {
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

  it('that may change its own records alone is told the same of those that are not there', async () => {
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
        "The record is not the caller's own: this needs the scope posts:write.",
      ]);
      expect(await told(call('none'))).to.deep.equal(refusal);
    }
    expect(await told(own.users.delete('none'))).to.deep.equal(
      await told(own.users.delete(here.other)),
    );
    await here.rostrum.users.delete(here.me, { posts: 'delete' });
    expect(await told(own.users.patch(here.me, {}))).to.include('user-not-found');
  });

  it('is not told by another fault whether an author exists', async () => {
    const here = await world();
    const own = here.rostrum.as(caller(here.me, 'posts:write:own'));
    for (const authorId of [here.other, 'none', null, 1]) {
      const wrong = { title: '', authorId } as { title: string };
      expect(await isForbidden(() => own.posts.patch(here.mine, wrong))).to.equal(true);
      expect(await isForbidden(() => own.posts.replace(here.mine, wrong))).to.equal(true);
    }
  });

  it('is told how many posts a user has only where it may read posts', async () => {
    const here = await world();
    const posts = async (...given: Scope[]) => {
      const call = here.rostrum.as(caller(here.me, ...given)).users.delete(here.other);
      const error = await call.catch((reason: unknown) => reason);
      return isRostrumError(error, 'user-has-posts') ? error.details.posts : error;
    };
    expect(await posts('users:write')).to.equal(undefined);
    expect(await posts('users:write', 'posts:read')).to.equal(1);
  });

  it('that is no user makes posts without an author, under a key too', async () => {
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

  it('is a value with a name, a subject and scopes, and nothing else counts as one', async () => {
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
      { name: 'x', subject: null, scopes: new Set(['admin']) },
      { name: 'x', subject: null, scopes: new Set(), admin: true },
    ];
    for (const value of wrong) expect(() => rostrum.as(value as never)).to.throw(TypeError);
  });

  it('may give its scopes in anything to iterate over, and once', async () => {
    const { rostrum } = await world();
    const given = ['posts:write'] as const;
    for (const scopes of [given, given.values(), new Map([[given[0], 1]]).keys()]) {
      const { posts } = rostrum.as({ name: 'x', subject: null, scopes });
      for (const title of ['a', 'b']) await posts.create({ title });
      expect(await isForbidden(() => posts.list())).to.equal(true);
    }
  });
});
