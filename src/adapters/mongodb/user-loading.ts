import { randomUUID } from 'node:crypto';
import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { emailKey } from '../../domain/email.ts';
import { emailTaken } from '../../domain/errors.ts';
import type { Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Call } from './call.ts';
import { keptClaims } from './claims.ts';
import { asRead, isHidden, type StoredUser, toStoredUser } from './documents.ts';
import { DuplicateKey } from './errors.ts';
import type { Fence } from './fence.ts';
import { documentsOf, writeAll } from './loading.ts';

/** Stores users as they are: all that can be at once, in their order. */
export async function loadUsers(
  call: Call,
  users: Collection<StoredUser>,
  fence: Fence,
  part: readonly Versioned<User>[],
): Promise<void> {
  const ids = part.map(({ record }) => record.id);
  for (let attempt = 0; ; attempt++) {
    const there = await documentsOf(call, users, ids);
    const leaving = [...there.values()].find((user) => user.leaving !== undefined);
    if (leaving !== undefined) {
      await fence.outwaitLeaving(call, leaving._id, attempt);
      continue;
    }
    const loaded = randomUUID();
    const writes = part.map((stored) => writeOf(stored, there.get(stored.record.id), loaded));
    try {
      if (await writeAll(call, users, 'load', writes, true)) return;
    } catch (error) {
      if (!(error instanceof DuplicateKey)) throw error;
      if (await isEmailTaken(call, users, part[error.index]?.record)) throw emailTaken();
    }
    await call.pause(attempt);
  }
}

function writeOf(
  { record, version }: Versioned<User>,
  there: StoredUser | undefined,
  loaded: string,
): AnyBulkWriteOperation<StoredUser> {
  const claims = there ? keptClaims(there) : [];
  const document = toStoredUser(record, version, claims, loaded);
  if (there === undefined) return { insertOne: { document } };
  const state = there.record ? asRead(there) : { _id: record.id, ...isHidden };
  const filter = { ...state, leaving: { $exists: false } } as object;
  return { replaceOne: { filter, replacement: document } };
}

/** Whether it was the address that was in the way, or somebody who stored the same id meanwhile. */
async function isEmailTaken(
  call: Call,
  users: Collection<StoredUser>,
  user: User | undefined,
): Promise<boolean> {
  if (typeof user?.email !== 'string') return false;
  const { id, email } = user;
  const holder = await call.read((bounds) =>
    users.findOne(
      { emailKey: emailKey(email), _id: { $ne: id } },
      { hint: 'email', readConcern: 'local', ...bounds },
    ),
  );
  return holder !== null;
}
