import { randomUUID } from 'node:crypto';
import type { CustomFilterFields } from '../../domain/declared-fields.ts';
import type { Instant } from '../../domain/instant.ts';
import type { UserFilter, UserSort } from '../../domain/list.ts';
import type { Id, Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Guard } from '../../ports/repository.ts';
import type { DeleteMode, Deletion, UserRepository } from '../../ports/user-repository.ts';
import type { Call } from './connection/call.ts';
import type { Connection } from './connection/connection.ts';
import { Cascade, type UserDeletion } from './fence/cascade.ts';
import type { Fence } from './fence/fence.ts';
import { users, withCustomFilters } from './lists/conditions.ts';
import { MongodbRepository } from './repository.ts';
import { asRead, type StoredUser, toStoredUser } from './schema/documents.ts';

export class MongodbUserRepository
  extends MongodbRepository<User, StoredUser, UserFilter, UserSort>
  implements UserRepository
{
  readonly #fence: Fence;
  readonly #cascade: Cascade;

  constructor(connection: Connection, fence: Fence, customFilters?: CustomFilterFields) {
    super(connection, connection.users, withCustomFilters(users, customFilters), async () => {});
    this.#fence = fence;
    this.#cascade = new Cascade(connection, fence);
  }

  delete(
    id: Id,
    mode: DeleteMode,
    at: Instant,
    guard?: Guard<User>,
  ): Promise<Deletion | undefined> {
    return this.connection.call((call) => {
      const done = { posts: 0 };
      // Posts that one attempt changed stay changed when a later one fails.
      return call.inParts(() =>
        this.change(call, id, async (user, current) => {
          guard?.(current);
          const deletion = { user, token: randomUUID(), mode, at, done };
          return (await this.#leave(call, deletion)) ? done : undefined;
        }),
      );
    });
  }

  protected override toStored = toStoredUser;

  protected override async insert(
    call: Call,
    stored: StoredUser,
    _user: User,
    characters: number,
  ): Promise<boolean> {
    await call.commit('insert', () => this.inserts.insert(stored, characters));
    return true;
  }

  protected override async replace(
    call: Call,
    stored: StoredUser,
    { record, version }: Versioned<User>,
  ): Promise<boolean> {
    const unmarked = { ...asRead(stored), leaving: { $exists: false } };
    return this.put(call, stored, unmarked, toStoredUser(record, version));
  }

  /** No other call changes or deletes a user who is leaving until that is decided. */
  protected override async isHeld(call: Call, user: StoredUser, attempt: number): Promise<boolean> {
    if (user.leaving === undefined) return false;
    await this.#fence.outwaitLeaving(call, user._id, attempt);
    return true;
  }

  async #leave(call: Call, deletion: UserDeletion): Promise<boolean> {
    const { user, token } = deletion;
    if (!(await this.#fence.leave(call, user, token))) return false;
    let gone = false;
    try {
      gone = await this.#cascade.run(call, deletion);
    } finally {
      if (!gone) await this.#unleave(call, user._id, token);
    }
    return gone;
  }

  /** Lets go of a user who stays. */
  async #unleave(call: Call, id: Id, token: string): Promise<void> {
    await this.#fence.unleave(call, id, token).catch(() => {
      // Once more, when the call was out of time; if that fails too, the lease runs out.
      const again = this.connection.call((later) => this.#fence.unleave(later, id, token));
      again.catch(() => {});
    });
  }
}
