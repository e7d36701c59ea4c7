import { emailKey } from '../../domain/email.ts';
import type { User } from '../../domain/user.ts';
import type { Store } from '../../ports/store.ts';
import { compare, type Step } from './compare.ts';
import type { CopyOptions } from './copy-options.ts';
import { loadAll } from './load.ts';
import type { Source } from './source.ts';
import { type Batch, walk } from './walk.ts';

/** The users of the target who have an address there that is another in the source. */
export function moved({ source, there }: Step<User>): Batch<User> {
  return source.flatMap(({ record: { id, email } }) => {
    const stored = there.get(id);
    const old = stored?.record.email ?? null;
    if (stored === undefined || old === null) return [];
    return email !== null && emailKey(email) === emailKey(old) ? [] : [stored];
  });
}

/**
 * Users of the target who have another address in the source give theirs up first, so that
 * addresses which went from one user to another do not meet.
 */
export async function freeAddresses(
  source: Source,
  { users }: Store,
  { signal }: CopyOptions,
): Promise<void> {
  for await (const step of compare(source.users(), walk(users, signal))) {
    const without = moved(step).map(({ record, version }) => {
      return { record: { ...record, email: null }, version };
    });
    await loadAll(users, without);
  }
}
