import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError, type UserInput } from '../../src/index.ts';
import { errorOf } from '../support/error-of.ts';

const store = createMemoryStore();
const { users, posts } = createRostrum(store);

/** The error of a call, as its code and the fields that it names. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await errorOf(call);
  if (!isRostrumError(error)) throw error;
  const pointers = 'issues' in error.details ? error.details.issues.map((i) => i.pointer) : [];
  return [error.code, ...pointers].join(' ');
}

/** A call that is wrong in itself: types keep TypeScript from making it. */
function misuse(call: () => Promise<unknown>): Promise<unknown> {
  return errorOf(call());
}

describe('the services', () => {
  it('report a missing record first, then a stale version, then invalid fields', async () => {
    const { id } = (await users.create({ name: 'Ada' })).record;
    const patch = (of: string, options: object) => refusal(users.patch(of, { name: '' }, options));
    expect(await patch('none', { only: [7] })).to.equal('user-not-found');
    expect(await patch(id, { only: [7] })).to.equal('version-mismatch');
    expect(await patch(id, { except: [1] })).to.equal('version-mismatch');
    expect(await patch(id, { required: true })).to.equal('precondition-required');
    expect(await patch(id, { only: [1] })).to.equal('invalid-record /name');
  });

  it('do not parse a record that fails its precondition', async () => {
    const unread = createMemoryStore();
    const { update } = unread.users;
    unread.users.update = (id, decide) =>
      update.call(unread.users, id, ({ version, json }) =>
        decide({
          version,
          json,
          get record(): never {
            throw new Error('The record was read.');
          },
        }),
      );
    const { users: services } = createRostrum(unread);
    const { id } = (await services.create({ name: 'Ada' })).record;
    expect(await refusal(services.patch(id, { name: 'Bo' }, { only: [7] }))).to.equal(
      'version-mismatch',
    );
    expect(await misuse(() => services.patch(id, { name: 'Bo' }))).to.match(/was read/);
  });

  it('return a result that serializes completely', async () => {
    const { users } = createRostrum(createMemoryStore());
    const made = await users.create({ name: 'Ann' });
    const { version, id, replayed, record } = made;
    expect(JSON.parse(JSON.stringify(made))).to.deep.equal({ version, id, replayed, record });
  });

  it('report whether a call changed anything, by what was finally stored', async () => {
    const { id } = (await users.create({ name: 'Ada', own: [1] })).record;
    const said = [
      await users.patch(id, { name: 'Ada' }),
      await users.patch(id, { own: [2] }),
      await users.replace(id, { name: 'Ada', own: [2] }),
      await users.update(id, (user) => ({ ...user, name: 'Bo' })),
      await users.update(id, (user) => user),
    ].map(({ changed, version, record, json }) => {
      expect(record).to.deep.equal(JSON.parse(json));
      return [changed, version];
    });
    expect(said).to.deep.equal([
      ...[
        [false, 1],
        [true, 2],
        [false, 2],
        [true, 3],
        [false, 3],
      ],
    ]);
  });

  it('report an unknown author once every other field is valid', async () => {
    const { id } = (await posts.create({ title: 'x' })).record;
    for (const title of ['', 'x']) {
      const input = { title, authorId: 'none' };
      const expected = `invalid-record ${title === '' ? '/title' : '/authorId'}`;
      expect(await refusal(posts.create(input))).to.equal(expected);
      expect(await refusal(posts.replace(id, input))).to.equal(expected);
    }
  });

  describe('creating under an idempotency key', () => {
    const key = { idempotencyKey: 'k' };

    it('return the first record for an equal input, in any order of keys', async () => {
      const first = await users.create({ name: 'Ada', own: [1] }, key);
      const again = await users.create({ own: [1], name: 'Ada' }, key);
      expect([first.replayed, again.replayed]).to.deep.equal([false, true]);
      expect([again.version, again.json]).to.deep.equal([1, first.json]);
    });

    it('reject another input under the key, but first an invalid one', async () => {
      for (const input of [{ name: 'Bo' }, { name: 'Ada', own: [[1]] }]) {
        expect(await refusal(users.create(input, key))).to.equal('idempotency-key-reused');
      }
      expect(await refusal(users.create({ name: '' }, key))).to.equal('invalid-record /name');
    });

    it('never replay for another input, however deep a field that is not stored is', async () => {
      let createdAt: unknown = [];
      for (let level = 0; level < 20; level++) createdAt = [createdAt];
      const deep = { idempotencyKey: 'deep' };
      for (const name of ['Ada', 'Bo']) {
        const input = { name, createdAt } as unknown as UserInput;
        expect(await refusal(users.create(input, deep))).to.match(/^invalid-record \/createdAt/);
      }
    });

    it('keep the keys of different callers apart, and those of users and posts', async () => {
      expect((await users.create({ name: 'Bo' }, { ...key, caller: 'b' })).replayed).to.equal(
        false,
      );
      expect((await posts.create({ title: 'Bo' }, key)).replayed).to.equal(false);
    });

    it('leave the key free when the input is invalid', async () => {
      const other = { idempotencyKey: 'other' };
      expect(await refusal(users.create({ name: '' }, other))).to.equal('invalid-record /name');
      expect((await users.create({ name: 'Cy' }, other)).replayed).to.equal(false);
    });

    it('replay for 24 hours', async () => {
      let now = Date.parse('2100-01-01T00:00:00.000Z');
      const clock = { now: () => new Date(now).toISOString() };
      const { users: timed } = createRostrum(createMemoryStore(), { clock });
      for (const [passed, replayed] of [
        [0, false],
        [24 * 3_600_000 - 1, true],
        [1, false],
      ] as const) {
        now += passed;
        expect((await timed.create({ name: 'Ada' }, key)).replayed).to.equal(replayed);
      }
    });
  });

  it('store an input as it was when the call was made', async () => {
    const input = { name: 'Ada', tags: ['a'] };
    const created = users.create(input, { idempotencyKey: 'changed later' });
    input.tags.push('b');
    expect((await created).record.tags).to.deep.equal(['a']);
  });

  it('reject if the input throws, without ending the process', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    const input = {
      get name(): string {
        throw new Error('not readable');
      },
    };
    const error = await misuse(() => users.create(input, { idempotencyKey: 'unreadable' }));
    await new Promise((done) => setTimeout(done, 5));
    process.off('unhandledRejection', note);
    expect([String(error), unhandled]).to.deep.equal(['Error: not readable', []]);
  });

  it('update with a function, at a version, ignoring modifications of its argument', async () => {
    const { id } = (await users.create({ name: 'Ada', born: 1 })).record;
    const older = await users.update(id, (user) => ({ ...user, born: 2 }), { only: [1] });
    expect([older.record.born, older.version]).to.deep.equal([2, 2]);
    const changed = await users.update(id, (user) => Object.assign(user, { born: 3 }));
    expect([changed.record.born, changed.version]).to.deep.equal([3, 3]);
    expect((await users.update(id, (user) => user)).version).to.equal(3);
    const stale = users.update(id, (user) => ({ ...user, born: 4 }), { only: [1] });
    expect(await refusal(stale)).to.equal('version-mismatch');
    const refused = new Error('mine');
    const throwing = users.update(id, () => {
      throw refused;
    });
    expect(await misuse(() => throwing)).to.equal(refused);
  });

  it('iterate over all records of a list, page by page', async () => {
    const author = (await users.create({ name: 'Author' })).record.id;
    for (let n = 0; n < 7; n++) await posts.create({ title: `${n}`, authorId: author });
    const titles: string[] = [];
    const order = { by: 'title', direction: 'asc' } as const;
    const all = posts.all({ filter: { authorId: author }, order, limit: 2 });
    for await (const { record } of all) titles.push(record.title);
    expect(titles).to.deep.equal(['0', '1', '2', '3', '4', '5', '6']);
    expect((await posts.list()).items.length).to.be.above(6);
  });

  it('list posts with their authors, also when only some fields are requested', async () => {
    const { users, posts } = createRostrum(createMemoryStore());
    const { id } = (await users.create({ name: 'Ann' })).record;
    await posts.create({ title: 'A', authorId: id });
    const page = await posts.listWithAuthors({ fields: ['title'] });
    expect(page.users.map(({ record }) => record.name)).to.deep.equal(['Ann']);
    expect(Object.keys(page.items[0]?.record ?? {})).to.have.members(['id', 'title', 'authorId']);
  });

  describe('reject misuse before anything is read', () => {
    // A closed store: every call of it ends in `store-unavailable`.
    const closed = createMemoryStore();
    before(() => closed.close());
    const on = createRostrum(closed);
    const never = (value: unknown) => value as never;

    const calls: Record<string, () => Promise<unknown>> = {
      'a string instead of deletion options': () => on.users.delete('u', never('keep')),
      'a mode that does not exist': () => on.users.delete('u', { posts: never('Keep') }),
      'null for a mode': () => on.users.delete('u', { posts: never(null) }),
      'an unknown option': () => on.users.delete('u', never({ post: 'keep' })),
      'null instead of options': () => on.posts.delete('p', never(null)),
      'null in a list of versions': () => on.posts.delete('p', { only: never([null]) }),
      'a version instead of a list': () => on.users.patch('u', {}, { except: never(1) }),
      'a flag that is not a boolean': () => on.users.patch('u', {}, { required: never('no') }),
      'an id that is not a string': () => on.users.get(never(undefined)),
      'a change that is not a function': () => on.users.update('u', never({ name: 'x' })),
      'an empty idempotency key': () => on.users.create({ name: 'x' }, { idempotencyKey: '' }),
      'a caller that is not a string': () => on.users.create({ name: 'x' }, { caller: never(7) }),
      'a string instead of creation options': () => on.users.create({ name: 'x' }, never('key')),
      'null instead of a request with authors': () => on.posts.listWithAuthors(never(null)),
      'an unknown member of a request': () => on.users.list(never({ lmit: 1 })),
      'an unknown filter': () => on.users.list({ filter: never({ nmae: 'x' }) }),
      'a sparse array of ids': () => on.users.list({ filter: { ids: new Array(3) } }),
      'more than 100 ids': () => on.users.list({ filter: { ids: Array<string>(101).fill('x') } }),
      'a string instead of a list of ids': () => on.users.list({ filter: { ids: never('abc') } }),
      'a string instead of a span': () =>
        on.users.list({ filter: { createdAt: never('yesterday') } }),
      'a span whose ends are not instants': () =>
        on.users.list({ filter: { updatedAt: { from: 'yesterday' } } }),
      'a span of publication without an end': () =>
        on.posts.list({ filter: { publishedAt: { from: undefined } } }),
      'a name that is not a string': () => on.users.list({ filter: { name: never(null) } }),
      'an author that is not a string': () => on.posts.list({ filter: { authorId: never(7) } }),
      'a position of another order': () => on.users.list({ after: { key: 'Ada', id: 'u' } }),
      'an incomplete position': () => on.users.list({ after: never({ key: null }) }),
      'a total that is not a boolean': () => on.users.list({ total: never('yes') }),
    };
    for (const [what, call] of Object.entries(calls)) {
      it(what, async () => {
        const error = await misuse(call);
        expect(String(error)).to.match(/: Unknown name | must be /);
        expect(error, String(error)).to.be.instanceOf(
          what.startsWith('a mode') || what.startsWith('null for a mode') ? RangeError : TypeError,
        );
      });
    }

    it('lists with an invalid limit or order', async () => {
      const wrong = [
        { limit: 0 },
        { limit: 1001 },
        { limit: 1.5 },
        { order: { by: never('toString'), direction: 'asc' as const } },
        { order: { by: 'name' as const, direction: never('up') } },
      ];
      for (const request of wrong) {
        const error = await misuse(() => on.users.list(request));
        expect(error, JSON.stringify(request)).to.be.instanceOf(RangeError);
      }
    });

    it('clocks and id generators that return invalid values', async () => {
      const later = () => Promise.reject(new Error('late'));
      expect(await misuse(() => on.users.update('u', never(7)))).to.be.instanceOf(TypeError);
      for (const now of [
        'yesterday',
        '2026-11-21T09:30:00Z',
        '',
        never(undefined),
        never(later()),
      ]) {
        const { users: late } = createRostrum(closed, { clock: { now: () => now } });
        expect(await misuse(() => late.create({ name: 'x' }))).to.be.instanceOf(TypeError);
      }
      for (const id of ['', 'a\0', '\ud800', never(7), 'me', '..', 'a\n', 'x'.repeat(256)]) {
        const { users: nameless } = createRostrum(closed, { ids: { next: () => id } });
        expect(await misuse(() => nameless.create({ name: 'x' }))).to.be.instanceOf(TypeError);
      }
    });

    it('stores of the wrong type', () => {
      for (const none of [undefined, {}, 'memory:']) {
        expect(() => createRostrum(never(none))).to.throw(TypeError, 'store');
      }
    });

    it('an asynchronous change, without ending the process', async () => {
      const { users: open } = createRostrum(createMemoryStore());
      const { id } = (await open.create({ name: 'x' })).record;
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      const change = never(() => Promise.reject(new Error('late')));
      const error = await misuse(() => open.update(id, change));
      await new Promise((done) => setTimeout(done, 5));
      process.off('unhandledRejection', note);
      expect([String(error), unhandled]).to.deep.equal([
        'TypeError: The change must be synchronous, but it returned a promise.',
        [],
      ]);
    });

    it('unknown options of createRostrum', () => {
      expect(() => createRostrum(closed, never({ clok: {} }))).to.throw(TypeError, 'clok');
      expect(() => createRostrum(closed, { customFields: never({ user: {} }) })).to.throw(
        TypeError,
      );
    });
  });
});
