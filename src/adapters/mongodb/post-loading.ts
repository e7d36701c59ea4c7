import { randomUUID } from 'node:crypto';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { unknownAuthor } from '../../domain/errors.ts';
import type { Post } from '../../domain/post.ts';
import type { Id, Versioned } from '../../domain/record.ts';
import type { Call } from './call.ts';
import { keptClaims } from './claims.ts';
import { asRead, isHidden, type StoredPost, toStoredPost } from './documents.ts';
import { DuplicateKey } from './errors.ts';
import { type Fence, ofMarks } from './fence.ts';
import { documentsOf, writeAll } from './loading.ts';
import { type PendingPosts, pendingPost } from './pending-posts.ts';

type Write = AnyBulkWriteOperation<StoredPost>;

/** Stores posts as they are, many at once, each by the steps of the fence (fence.ts). */
export async function loadPosts(
  call: Call,
  posts: Collection<StoredPost>,
  fence: Fence,
  pending: PendingPosts,
  part: readonly Versioned<Post>[],
): Promise<void> {
  const ids = part.map(({ record }) => record.id);
  for (let attempt = 0; ; attempt++) {
    const there = await documentsOf(call, posts, ids);
    const others = ids.filter((id) => there.get(id)?.pending);
    if (others.length > 0) {
      await pending.outwait(call, others);
      continue;
    }
    const token = randomUUID();
    const plans = part.map((stored) => planOf(stored, there.get(stored.record.id), token));
    try {
      if (await carryOut(call, posts, fence, plans)) return;
    } catch (error) {
      // Somebody stored a post with the same id meanwhile.
      if (!(error instanceof DuplicateKey)) {
        await takeBack(call, posts, ids, token).catch(() => {});
        throw error;
      }
    }
    await takeBack(call, posts, ids, token);
    await call.pause(attempt);
  }
}

/** What has to be done for one post. */
interface Plan {
  /** The author that it comes to name, and the mark that this needs. */
  readonly joins?: { readonly author: Id; readonly mark: Write };
  readonly write: Write;
}

function planOf(
  { record, version }: Versioned<Post>,
  there: StoredPost | undefined,
  token: string,
): Plan {
  const { id: _id, authorId: author } = record;
  const claims = there ? keptClaims(there) : [];
  const document = toStoredPost(record, version, claims, token);
  const names = author !== null && there?.record?.authorId !== author;
  const marked = names ? { 'joining.token': token } : {};
  if (there === undefined) {
    if (!names) return { write: { insertOne: { document } } };
    const mark = { insertOne: { document: pendingPost(document, { token, author }) } };
    const write = { replaceOne: { filter: { _id, ...marked }, replacement: document } };
    return { joins: { author, mark }, write };
  }
  const state = there.record ? asRead(there) : { _id, ...isHidden };
  const write = {
    replaceOne: { filter: { ...state, ...marked } as object, replacement: document },
  };
  if (!names) return { write };
  const update = { $push: { joining: { token, author } } };
  return { joins: { author, mark: { updateOne: { filter: state as object, update } } }, write };
}

async function carryOut(
  call: Call,
  posts: Collection<StoredPost>,
  fence: Fence,
  plans: readonly Plan[],
): Promise<boolean> {
  const joins = plans.flatMap((plan) => plan.joins ?? []);
  if (joins.length > 0) {
    const marks = joins.map(({ mark }) => mark);
    await call.prepare('marks', (bounds) =>
      posts.bulkWrite(marks, { ordered: false, ...ofMarks, ...bounds }),
    );
    const authors = [...new Set(joins.map(({ author }) => author))];
    if (!(await fence.admitsAll(call, authors))) throw unknownAuthor();
  }
  const writes = plans.map(({ write }) => write);
  return writeAll(call, posts, 'load', writes, false);
}

/** Removes the marks that were not used. */
async function takeBack(
  call: Call,
  posts: Collection<StoredPost>,
  ids: readonly Id[],
  token: string,
): Promise<void> {
  const marked = { _id: { $in: [...ids] }, 'joining.token': token };
  await call.prepare('unmark', async (bounds) => {
    await posts.deleteMany({ ...marked, pending: true }, bounds);
    await posts.updateMany(
      { ...marked, pending: { $exists: false } },
      { $pull: { joining: { token } } },
      bounds,
    );
  });
}
