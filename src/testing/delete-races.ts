import { isRostrumError } from '../domain/errors.ts';
import type { Post } from '../domain/post.ts';
import type { Id } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import type { DeleteMode } from '../ports/user-repository.ts';
import { assert, expectAbsent, expectEqual, expectError, race } from './assertions.ts';
import { authorWith, modes } from './delete.ts';
import { later, pause, post, ticks, times, user } from './fixtures.ts';
import { eq, idsOf, insert, list, readAll, recordsOf } from './lists.ts';
import type { Suite } from './suite.ts';

/** Deletions of users while their posts are written and read: no post ever names a deleted user. */
export function describeDeleteRaces(suite: Suite): void {
  for (const mode of modes) describeNewPosts(mode, suite);
  for (const mode of modes) describeChangedPosts(mode, suite);
  for (const mode of ['delete', 'keep'] as const) describeReaders(mode, suite);

  suite.test('deletions in every mode against creations, moves and each other', async (store) => {
    const { users, posts } = store;
    for (let round = 0; round < 12; round++) {
      const [author, other] = [user(), user()];
      await insert(users, [author, other]);
      const movers = times(4, (n) => post({ authorId: n % 2 ? other.id : author.id }));
      await insert(posts, movers);
      const calls = times(12, async (n) => {
        await ticks((n * 5 + round) % 7);
        const authorId = n % 2 ? author.id : other.id;
        if (n % 3 === 0) return posts.create(post({ authorId }));
        const mode = modes[(n + round) % 3] ?? 'refuse';
        if (n % 3 === 1) return users.delete(authorId, mode, later);
        const id = movers[n % 4]?.id ?? '';
        return posts.update(id, ({ record }) => ({ ...record, authorId }));
      });
      const { errors } = await race(calls);
      const { 'user-has-posts': _, 'invalid-record': __, ...others } = errors;
      expectEqual('the errors that a deletion does not explain', others, {});
      await expectNoOrphans(store);
    }
  });
}

/** How far the deletion of a user is, for the calls that race with it. */
interface Progress {
  begun: boolean;
  ended: boolean;
  /** No call writes any more, so the deletion must succeed at its next attempt. */
  quiet: boolean;
}

/** Posts that keep coming while their author is deleted. */
function describeNewPosts(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: no new post names the deleted user`, async (store) => {
    const { users, posts } = store;
    for (let round = 0; round < 6; round++) {
      const [authorId = ''] = await insert(users, [user()]);
      const progress = { begun: false, ended: false, quiet: false };
      const writing = times(4, (n) =>
        keepWriting(progress, () => writePost(store, authorId, mode, n % 2 === 0)),
      );
      void Promise.allSettled(writing).then(() => {
        progress.quiet = true;
      });
      const reading = keepReading(progress, async () => {
        const isGone = (await users.get(authorId)) === undefined;
        const { items } = await list(posts, { conditions: [eq('authorId', authorId)] });
        if (isGone) expectEqual('the number of posts of a deleted user', items.length, 0);
      });
      const deleting = deleteAfter(1 + round * 2, progress, () =>
        users.delete(authorId, mode, later),
      );
      const written = (await allOf(writing, reading, deleting)).flat();
      await expectAbsent(users, authorId, 'the deleted user');
      for (const id of written) {
        const left = await posts.get(id);
        if (mode === 'keep') expectEqual('the author of a post', left?.record.authorId, null);
        else assert(left === undefined, 'a post of a deleted user is left');
      }
    }
    await expectNoOrphans(store);
  });
}

/** Creates a post of the author, or moves one to them. In the mode `refuse`, deletes it again. */
async function writePost(
  { users, posts }: Store,
  authorId: Id,
  mode: DeleteMode,
  isMove: boolean,
): Promise<Id> {
  const record = post({ authorId: isMove ? null : authorId });
  try {
    await posts.create(record);
    if (isMove) await posts.update(record.id, (now) => ({ ...now.record, authorId }));
  } catch (error) {
    const left = (await posts.get(record.id))?.record;
    expectEqual('the post after the refused call', left, isMove ? record : undefined);
    throw error;
  }
  if (mode === 'refuse') {
    assert(await users.get(authorId), 'the post names a deleted user');
    await posts.delete(record.id);
  }
  return record.id;
}

/** Writes until the author is found deleted. Returns the ids of the posts. */
async function keepWriting(progress: Progress, write: () => Promise<Id>): Promise<Id[]> {
  const written: Id[] = [];
  for (let n = 0; n < 30; n++) {
    await pause();
    const wasDeleted = progress.ended;
    const [outcome] = await Promise.allSettled([write()]);
    if (outcome.status === 'rejected') {
      await expectError(Promise.reject(outcome.reason), 'invalid-record');
      assert(progress.begun, 'a post was refused before its author was deleted');
      break;
    }
    assert(!wasDeleted, 'a post got a deleted author');
    written.push(outcome.value);
  }
  return written;
}

async function keepReading(progress: Progress, read: () => Promise<void>): Promise<void> {
  while (!progress.ended) {
    await read();
    await pause();
  }
}

/** Deletes a user after some time, and again while new posts prevent the deletion. */
async function deleteAfter(
  pauses: number,
  progress: Progress,
  remove: () => Promise<unknown>,
): Promise<void> {
  try {
    for (let n = 0; n < pauses; n++) await pause();
    progress.begun = true;
    for (;;) {
      const { quiet } = progress;
      if (!(await isRefused(remove()))) return;
      assert(!quiet, 'the deletion is refused, but the user has no posts');
      await pause();
    }
  } finally {
    progress.ended = true;
  }
}

/** Returns true for a deletion that is refused because the user has posts. */
async function isRefused(deletion: Promise<unknown>): Promise<boolean> {
  try {
    assert(await deletion, 'delete did not find the user');
    return false;
  } catch (error) {
    if (isRostrumError(error, 'user-has-posts')) return true;
    throw error;
  }
}

/** Deletions of a user while their posts are changed. */
function describeChangedPosts(mode: DeleteMode, { test }: Suite): void {
  const rounds = 12;

  /** Races the deletion with a change of each of four posts. */
  const against = async (store: Store, round: number, change: (post: Post, n: number) => Post) => {
    const { users, posts } = store;
    const { author, theirs } = await authorWith(4, store);
    const deletion = async () => {
      await ticks((round >> 1) % 4);
      return users.delete(author.id, mode, later);
    };
    // In every second round, the deletion starts first.
    const early = round % 2 === 0 ? undefined : deletion();
    const changing = times(4, async (n) => {
      await ticks(n * (round % 3));
      return posts.update(theirs[n]?.id ?? '', ({ record }) => change(record, n));
    });
    const refused = await isRefused(early ?? deletion());
    const changed = await Promise.all(changing);
    expectEqual('whether the user exists', !!(await users.get(author.id)), refused);
    const left = await Promise.all(theirs.map(({ id }) => posts.get(id)));
    return { refused, pairs: changed.map((one, n) => [one, left[n]] as const) };
  };

  test(`${mode}: leaves posts that move away at the same time`, async (store) => {
    const [authorId = ''] = await insert(store.users, [user()]);
    for (let round = 0; round < rounds; round++) {
      const { pairs } = await against(store, round, (record) => ({ ...record, authorId }));
      for (const [moved, left] of pairs) {
        // The move was last, so its result is stored.
        const [stored, result] = [left, moved].map((one) => one && [one.version, one.record]);
        expectEqual('the post that moved away', stored, result);
        if (mode !== 'delete') expectEqual('its author', moved?.record.authorId, authorId);
      }
    }
  });

  test(`${mode}: loses no change of a post at the same time`, async (store) => {
    for (let round = 0; round < rounds; round++) {
      const { refused, pairs } = await against(store, round, (record, n) => ({ ...record, n }));
      expectEqual('whether the deletion is refused', refused, mode === 'refuse');
      for (const [n, [changed, left]] of pairs.entries()) {
        if (mode === 'delete') assert(left === undefined, 'a post of a deleted user is left');
        else if (mode === 'refuse') expectEqual('the post', left?.record, changed?.record);
        else {
          const kept = [left?.record.n, left?.record.authorId, left?.version];
          expectEqual('a kept post', kept, [n, null, 3]);
        }
      }
    }
  });
}

/** Readers while a user with many posts is deleted. */
function describeReaders(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: readers see the user and all posts, or the result`, async (store) => {
    const { users, posts } = store;
    for (const count of [300, 20, 20, 20]) {
      const { author, theirs, others } = await authorWith(count, store);
      const progress = { begun: false, ended: false, quiet: true };
      const conditions = [eq('authorId', author.id)];
      const some = idsOf(theirs.slice(-50));
      const read = async () => {
        const wasGone = (await users.get(author.id)) === undefined;
        const { items, total } = await list(posts, { conditions, limit: 1000, total: true });
        const ids = { field: 'id', op: 'in', value: some } as const;
        const found = recordsOf((await list(posts, { conditions: [ids] })).items);
        const isGone = (await users.get(author.id)) === undefined;
        const byId = found.filter(({ authorId }) => authorId === author.id).length;
        const seen = `a reader saw ${items.length} of ${count} posts, a total of ${total}, and by id ${found.length}, of which ${byId} with their author`;
        const left = mode === 'keep' || byId > 0 ? some.length : 0;
        assert([0, count].includes(items.length) && total === items.length, seen);
        assert([0, left].includes(byId) && found.length === left, seen);
        if (wasGone) assert(items.length + byId === 0, `${seen}; the user was gone`);
        if (items.length === 0) assert(byId === 0, seen);
        if (byId === 0) assert(isGone, `${seen}; the user existed`);
      };
      const reading = times(3, () => keepReading(progress, read));
      const deleting = deleteAfter(3, progress, () => users.delete(author.id, mode, later));
      await allOf(reading, deleting);
      await read();
      const rest = (await readAll(posts)).filter(({ id }) => idsOf(others).includes(id));
      expectEqual('the posts of others', rest, others);
    }
    await expectNoOrphans(store);
  });
}

/** Waits for all of them, so that nothing runs on after a test that failed. */
async function allOf<T>(first: readonly Promise<T>[], ...rest: Promise<void>[]): Promise<T[]> {
  await Promise.allSettled([...first, ...rest]);
  await Promise.all(rest);
  return Promise.all(first);
}

async function expectNoOrphans({ users, posts }: Store): Promise<void> {
  const known = new Set((await readAll(users)).map(({ id }) => id));
  for (const { id, authorId } of await readAll(posts)) {
    assert(authorId === null || known.has(authorId), `the post ${id} names a deleted user`);
  }
}
