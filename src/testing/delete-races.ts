import { isRostrumError } from '../domain/errors.ts';
import type { Post } from '../domain/post.ts';
import type { Id } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import type { DeleteMode } from '../ports/user-repository.ts';
import { absent, check, is, race, raises } from './assertions.ts';
import { authorWith, everyMode } from './delete.ts';
import { later, pause, post, ticks, times, user } from './fixtures.ts';
import { idsOf, pageOf, put, recordsOf, walk } from './lists.ts';
import type { Suite } from './suite.ts';

/** Deletions of users against all that happens to their posts meanwhile: no orphan, ever. */
export function describeDeleteRaces(suite: Suite): void {
  for (const mode of everyMode) describeArrivals(mode, suite);
  for (const mode of everyMode) describeDepartures(mode, suite);
  for (const mode of ['delete', 'keep'] as const) describeReaders(mode, suite);

  suite.test('deletions in every mode against creations, moves and each other', async (store) => {
    const { users, posts } = store;
    for (let round = 0; round < 12; round++) {
      const [author, other] = [user(), user()];
      await put(users, [author, other]);
      const movers = times(4, (n) => post({ authorId: n % 2 ? other.id : author.id }));
      await put(posts, movers);
      const writes = times(12, async (n) => {
        await ticks((n * 5 + round) % 7);
        const authorId = n % 2 ? author.id : other.id;
        if (n % 3 === 0) return posts.create(post({ authorId }));
        const mode = everyMode[(n + round) % 3] ?? 'refuse';
        if (n % 3 === 1) return users.delete(authorId, mode, later);
        const id = movers[n % 4]?.id ?? '';
        return posts.update(id, ({ record }) => ({ ...record, authorId }));
      });
      const { raised } = await race(writes);
      const { 'user-has-posts': _, 'invalid-record': __, ...others } = raised;
      is('errors that no deletion explains', others, {});
      await noOrphan(store);
    }
  });
}

/** How far the deletion is, as those that write or read meanwhile have to know. */
interface Progress {
  begun: boolean;
  ended: boolean;
  /** Nothing writes any more: a deletion that is refused now is refused for ever. */
  quiet: boolean;
}

/** Posts that keep coming while their author is deleted. */
function describeArrivals(mode: DeleteMode, { test }: Suite): void {
  test(`${mode}: posts that keep coming to a deleted user leave no orphan`, async (store) => {
    const { users, posts } = store;
    for (let round = 0; round < 6; round++) {
      const [authorId = ''] = await put(users, [user()]);
      const progress = { begun: false, ended: false, quiet: false };
      const writing = times(4, (n) =>
        keepWriting(progress, () => visit(store, authorId, mode, n % 2 === 0)),
      );
      void Promise.allSettled(writing).then(() => {
        progress.quiet = true;
      });
      const reading = keepReading(progress, async () => {
        const isGone = (await users.get(authorId)) === undefined;
        const { items } = await pageOf(posts, { filter: { authorId } });
        if (isGone) is('posts of a deleted user', items.length, 0);
      });
      const deleting = deleteAfter(1 + round * 2, progress, () =>
        users.delete(authorId, mode, later),
      );
      const written = (await ended(writing, reading, deleting)).flat();
      await absent(users, authorId, 'the user is still there');
      for (const id of written) {
        const left = await posts.get(id);
        if (mode !== 'keep') check(left === undefined, 'a post of a deleted user is left');
        else is('author of a kept post', left?.record.authorId, null);
      }
    }
    await noOrphan(store);
  });
}

/**
 * Makes a post of the author, or moves one to them. In the mode `refuse`, it is in the way of the
 * deletion until it is deleted again.
 */
async function visit(
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
    is('post that was refused', left, isMove ? record : undefined);
    throw error;
  }
  if (mode === 'refuse') {
    check(await users.get(authorId), 'the post names a deleted user');
    await posts.delete(record.id);
  }
  return record.id;
}

/** @returns the ids that were written until the author was found gone */
async function keepWriting(progress: Progress, write: () => Promise<Id>): Promise<Id[]> {
  const written: Id[] = [];
  for (let n = 0; n < 30; n++) {
    await pause();
    const wasDeleted = progress.ended;
    const [outcome] = await Promise.allSettled([write()]);
    if (outcome.status === 'rejected') {
      await raises(Promise.reject(outcome.reason), 'invalid-record');
      check(progress.begun, 'a post was refused though its author was there');
      break;
    }
    check(!wasDeleted, 'a post was given a deleted author');
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

/** Deletes a user after some time, again and again while writers are in the way, which end. */
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
      check(!quiet, 'the deletion is refused, though no post is in its way');
      await pause();
    }
  } finally {
    progress.ended = true;
  }
}

/** Whether a deletion is refused, because the user has posts. */
async function isRefused(deletion: Promise<unknown>): Promise<boolean> {
  try {
    check(await deletion, 'no user was found');
    return false;
  } catch (error) {
    if (isRostrumError(error, 'user-has-posts')) return true;
    throw error;
  }
}

/** Deletions of a user against changes of the posts that name the user already. */
function describeDepartures(mode: DeleteMode, { test }: Suite): void {
  const rounds = 12;

  /** Races the deletion with a change of each of four posts. */
  const against = async (store: Store, round: number, change: (post: Post, n: number) => Post) => {
    const { users, posts } = store;
    const { author, theirs } = await authorWith(4, store);
    const deletion = async () => {
      await ticks((round >> 1) % 4);
      return users.delete(author.id, mode, later);
    };
    // Which one sets out first differs from round to round.
    const early = round % 2 === 0 ? undefined : deletion();
    const changing = times(4, async (n) => {
      await ticks(n * (round % 3));
      return posts.update(theirs[n]?.id ?? '', ({ record }) => change(record, n));
    });
    const refused = await isRefused(early ?? deletion());
    const changed = await Promise.all(changing);
    is('presence of the user, by what delete told', !!(await users.get(author.id)), refused);
    const left = await Promise.all(theirs.map(({ id }) => posts.get(id)));
    return { refused, pairs: changed.map((one, n) => [one, left[n]] as const) };
  };

  test(`${mode}: deleting a user against moving their posts away takes none`, async (store) => {
    const [authorId = ''] = await put(store.users, [user()]);
    for (let round = 0; round < rounds; round++) {
      const { pairs } = await against(store, round, (record) => ({ ...record, authorId }));
      for (const [moved, left] of pairs) {
        // The move was last: what was acknowledged is what is there.
        is(
          'post that was moved away',
          [left?.version, left?.record],
          [moved?.version, moved?.record],
        );
        if (mode !== 'delete')
          is('author of a post that was moved away', moved?.record.authorId, authorId);
      }
    }
  });

  test(`${mode}: deleting a user against changing their posts loses no change`, async (store) => {
    for (let round = 0; round < rounds; round++) {
      const { refused, pairs } = await against(store, round, (record, n) => ({ ...record, n }));
      is('refusal of the deletion', refused, mode === 'refuse');
      for (const [n, [changed, left]] of pairs.entries()) {
        if (mode === 'delete') check(left === undefined, 'a post of a deleted user is left');
        else if (mode === 'refuse') is('post that was changed', left?.record, changed?.record);
        else {
          is('change of a post that was kept', left?.record.n, n);
          is('author of a kept post', left?.record.authorId, null);
          is('version of a post that was changed and kept', left?.version ?? 0, 3);
        }
      }
    }
  });
}

/** Readers that keep reading while a user with many posts is deleted. */
function describeReaders(mode: DeleteMode, { contract, test }: Suite): void {
  const { tornCascades } = contract;
  const sentence =
    tornCascades === undefined
      ? 'readers see a user and all posts, or none of them'
      : `readers see the end whole, but perhaps a part before (${tornCascades})`;

  test(`${mode}: ${sentence}`, async (store) => {
    const { users, posts } = store;
    for (const count of [300, 20, 20, 20]) {
      const { author, theirs, others } = await authorWith(count, store);
      const progress = { begun: false, ended: false, quiet: true };
      const filter = { authorId: author.id };
      const some = { ids: idsOf(theirs.slice(-50)) };
      const read = async () => {
        // A read that began before the end may have seen a part.
        const isJudged = tornCascades === undefined || progress.ended;
        const wasGone = (await users.get(author.id)) === undefined;
        const { items, total } = await pageOf(posts, { filter, limit: 1000, total: true });
        const found = recordsOf((await pageOf(posts, { filter: some })).items);
        const isGone = (await users.get(author.id)) === undefined;
        if (!isJudged) return;
        const theirsOf = found.filter(({ authorId }) => authorId === author.id);
        const byId = `${found.length} by id, ${theirsOf.length} of them theirs`;
        const seen = `${items.length} of ${count} posts, ${total} in all, ${byId}`;
        const left = mode === 'keep' || theirsOf.length > 0 ? some.ids.length : 0;
        check([0, count].includes(items.length) && total === items.length, seen);
        check([0, left].includes(theirsOf.length) && found.length === left, seen);
        if (wasGone) check(items.length + theirsOf.length === 0, `${seen}; the user is gone`);
        if (items.length === 0) check(theirsOf.length === 0, seen);
        if (theirsOf.length === 0) check(isGone, `${seen}; the user is there`);
      };
      const reading = times(3, () => keepReading(progress, read));
      const deleting = deleteAfter(3, progress, () => users.delete(author.id, mode, later));
      await ended(reading, deleting);
      await read();
      const rest = (await walk(posts)).filter(({ id }) => others.some((other) => other.id === id));
      is('the posts of others', rest, others);
    }
    await noOrphan(store);
  });
}

/** Awaits the end of all, so that nothing goes on after a test that failed. */
async function ended<T>(first: readonly Promise<T>[], ...rest: Promise<void>[]): Promise<T[]> {
  await Promise.allSettled([...first, ...rest]);
  await Promise.all(rest);
  return Promise.all(first);
}

async function noOrphan({ users, posts }: Store): Promise<void> {
  const known = new Set((await walk(users)).map(({ id }) => id));
  for (const { id, authorId } of await walk(posts)) {
    check(authorId === null || known.has(authorId), `the post ${id} is an orphan`);
  }
}
