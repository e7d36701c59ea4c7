import { randomUUID } from 'node:crypto';
import type { Collection } from 'mongodb';
import type { Claim } from '../../domain/claim.ts';
import { emailTaken } from '../../domain/errors.ts';
import { copyJson } from '../../domain/json.ts';
import { type UserFilter, type UserSort, userSortKey } from '../../domain/page.ts';
import type { Id, Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { Creation, Decide, Guard } from '../../ports/repository.ts';
import type { PostsOfDeleted, UserRepository } from '../../ports/user-repository.ts';
import type { Call } from './call.ts';
import { Cascade } from './cascade.ts';
import { keptClaims, toStoredClaim } from './claims.ts';
import type { Connection } from './connection.ts';
import {
  asRead,
  firstVersion,
  isHidden,
  type StoredUser,
  toStoredUser,
  toVersioned,
} from './documents.ts';
import type { DuplicateKey } from './errors.ts';
import type { Fence } from './fence.ts';
import { partsOf } from './loading.ts';
import { MongodbRepository } from './repository.ts';
import { userConditions, userPaths } from './user-conditions.ts';
import { loadUsers } from './user-loading.ts';

const kind = { conditions: userConditions, paths: userPaths, sortKey: userSortKey };

export class MongodbUserRepository
  extends MongodbRepository<User, StoredUser, UserFilter, UserSort>
  implements UserRepository
{
  readonly #users: Collection<StoredUser>;
  readonly #fence: Fence;
  readonly #cascade: Cascade;

  constructor(connection: Connection, fence: Fence) {
    super(connection, connection.users, kind);
    this.#users = connection.users;
    this.#fence = fence;
    this.#cascade = new Cascade(connection, fence);
  }

  override create(given: User, claim?: Claim): Promise<Creation<User>> {
    const claims = claim ? [toStoredClaim(claim)] : [];
    return this.creation(given, claim, async (call, user, remains) => {
      if (remains === undefined) {
        const stored = toStoredUser(user, firstVersion, claims);
        await call.commit('insert', (bounds) => this.#users.insertOne(stored, bounds));
        return true;
      }
      const stored = toStoredUser(user, firstVersion, [...claims, ...keptClaims(remains)]);
      return this.#replace(call, { _id: user.id, ...isHidden }, stored);
    });
  }

  override update(id: Id, decide: Decide<User>): Promise<Versioned<User> | undefined> {
    return this.change(id, decide, async (call, stored, current, next) => {
      const replacement = toStoredUser(
        next,
        current.version + 1,
        keptClaims(stored),
        stored.loaded,
      );
      const unmarked = { ...asRead(stored), leaving: { $exists: false } };
      return this.#replace(call, unmarked, replacement);
    });
  }

  async load(records: readonly Versioned<User>[]): Promise<void> {
    const parts = partsOf(records);
    return this.connection.call((call) =>
      call.inParts(async () => {
        for (const part of parts) {
          await loadUsers(call, this.#users, this.#fence, part);
          call.extend();
        }
      }),
    );
  }

  async delete(id: Id, posts: PostsOfDeleted, guard?: Guard<User>): Promise<boolean> {
    return this.connection.call(async (call) => {
      for (let attempt = 0; ; attempt++) {
        const user = await this.find(call, id);
        const current = toVersioned<User>(user);
        if (user === undefined || current === undefined) return false;
        if (await this.isHeld(call, user, attempt)) continue;
        guard?.(copyJson(current));
        if (await this.#leave(call, user, posts)) return true;
        await call.pause(attempt);
      }
    });
  }

  /** Who is leaving is neither changed nor deleted by anybody else until that is decided. */
  protected override async isHeld(call: Call, user: StoredUser, attempt: number): Promise<boolean> {
    if (user.leaving === undefined) return false;
    await this.#fence.outwaitLeaving(call, user._id, attempt);
    return true;
  }

  protected override conflict(duplicate: DuplicateKey): unknown {
    return duplicate.field === 'emailKey' ? emailTaken() : duplicate;
  }

  async #leave(call: Call, user: StoredUser, posts: PostsOfDeleted): Promise<boolean> {
    const token = randomUUID();
    if (!(await this.#fence.leave(call, user, token))) return false;
    let gone = false;
    try {
      gone = await this.#cascade.run(call, user, token, posts);
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

  async #replace(call: Call, filter: object, replacement: StoredUser): Promise<boolean> {
    const { matchedCount } = await call.commit('replace', (bounds) =>
      this.#users.replaceOne(filter, replacement, bounds),
    );
    return matchedCount === 1;
  }
}
