import { isRostrumError } from '../domain/errors.ts';
import type { Post } from '../domain/records/post.ts';
import type { Id } from '../domain/records/record.ts';
import type { Store } from '../ports/store.ts';
import { type DeleteMode, deleteModes } from '../ports/user-repository.ts';
import { assert, expectAbsent, expectEqual, expectError } from './assertions.ts';
import { authorWith } from './delete.ts';
import { later, pause, post, ticks, times, user } from './fixtures.ts';
import { eq, idsOf, insert, list, oneOf, readAll, recordsOf } from './lists/lists.ts';
import type { Suite } from './suite.ts';

/** Deletions of users while their posts are written and read: no post ever names a deleted user. */
export function describeDeleteRaces(suite: Suite): void {
  for (const mode of deleteModes) describeNewPosts(mode, suite);
  for (const mode of deleteModes) describeChangedPosts(mode, suite);
  for (const mode of ['delete', 'keep'] as const) describeReaders(mode, suite);
}

/** How far the deletion of a user is, for the calls that race with it. */
interface Progress {
  begun: boolean;
  ended: boolean;
  /** No call writes any more, so the deletion must succeed at its next attempt. */
  writersDone: boolean;
}

/** Posts that keep coming while their author is deleted. */
function describeNewPosts(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: no new post names the deleted user`, async (store) => {
    const { users, posts } = store;
    for (let round = 0; round < 6; round++) {
      const [authorId = ''] = await insert(users, [user()]);
      const progress = { begun: false, ended: false, writersDone: false };
      const writing = times(4, (n) =>
        keepWriting(progress, () => writePost(store, authorId, mode, n % 2 === 0)),
      );
      void Promise.allSettled(writing).then(() => {
        progress.writersDone = true;
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
      const { writersDone } = progress;
      if (!(await isRefused(remove()))) return;
      assert(!writersDone, 'the deletion is refused, but the user has no posts');
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

/** Deletions of a user while their posts change, and while they move to another author. */
function describeChangedPosts(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: loses no concurrent change or move of a post`, async (store) => {
    const { users, posts } = store;
    const [otherId = ''] = await insert(users, [user()]);
    for (let round = 0; round < 18; round++) {
      const { author, theirs } = await authorWith(4, store);
      const allMove = round % 3 === 0;
      const moves = (n: number) => allMove || n % 2 === 0;
      const change = (record: Post, n: number) =>
        moves(n) ? { ...record, authorId: otherId } : { ...record, n };
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
      if (!allMove) expectEqual('whether the deletion is refused', refused, mode === 'refuse');
      expectEqual('whether the user exists', !!(await users.get(author.id)), refused);
      for (const [n, changed] of (await Promise.all(changing)).entries()) {
        const left = await posts.get(theirs[n]?.id ?? '');
        const [stored, result] = [left, changed].map((one) => one && [one.version, one.record]);
        // Nothing follows a move or a refusal, so the result of the change is what is stored.
        if (moves(n) || mode === 'refuse') expectEqual('the changed post', stored, result);
        else if (mode === 'delete') assert(!left, 'a post of a deleted user is left');
        else {
          const kept = [left?.record.n, left?.record.authorId, left?.version];
          expectEqual('a kept post', kept, [n, null, 3]);
        }
        if (moves(n) && mode !== 'delete') {
          expectEqual('the author of a moved post', left?.record.authorId, otherId);
        }
      }
    }
  });
}

/** Readers while a user with many posts is deleted. */
function describeReaders(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: readers see all of the deletion or none of it`, async (store) => {
    const { users, posts } = store;
    for (const count of [300, 20, 20, 20]) {
      const { author, theirs, others } = await authorWith(count, store);
      const progress = { begun: false, ended: false, writersDone: true };
      const conditions = [eq('authorId', author.id)];
      const some = idsOf(theirs.slice(-50));
      const read = async () => {
        const wasGone = (await users.get(author.id)) === undefined;
        const { items, total } = await list(posts, { conditions, limit: 1000, total: true });
        const found = recordsOf((await list(posts, { conditions: [oneOf('id', some)] })).items);
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
