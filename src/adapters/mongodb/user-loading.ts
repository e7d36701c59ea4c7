import type { AnyBulkWriteOperation, Collection } from 'mongodb';
import { emailKey } from '../../domain/email.ts';
import { emailTaken } from '../../domain/errors.ts';
import type { Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Call } from './call.ts';
import { keptClaims } from './claims.ts';
import { isHidden, type StoredUser, toStoredUser } from './documents.ts';
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
    const writes = part.map((stored) => writeOf(stored, there.get(stored.record.id)));
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
): AnyBulkWriteOperation<StoredUser> {
  if (there === undefined) return { insertOne: { document: toStoredUser(record, version, []) } };
  const replacement = toStoredUser(record, version, keptClaims(there));
  const state = there.record ? { version: there.version ?? 0 } : isHidden;
  const filter = { _id: record.id, ...state, leaving: { $exists: false } };
  return { replaceOne: { filter, replacement } };
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
