import type { Collection } from 'mongodb';
import { limits } from '../connection/limits.ts';
import { schemaVersion } from '../schema/collections.ts';

/** What the document of the version says. */
export interface Meta {
  readonly _id: 'schema';
  readonly version: number;
  /** There until what an earlier version stored is migrated. */
  readonly migration?: Progress;
}

export type Resource = 'users' | 'posts';

interface Progress extends Readonly<Partial<Record<Resource, string>>> {
  readonly holder: string;
  readonly until: Date;
}

/** Another server migrates the database, or this one does: calls wait for it. */
export class MigrationUnderWay extends Error {
  override readonly name = 'MigrationUnderWay';
}

/**
 * The right to migrate, which one server has at a time; it runs out, by the server's clock, when its
 * holder died. The migration is safe without: every step of it may be done twice.
 */
export class Lease {
  readonly #meta: Collection<Meta>;
  readonly #holder: string;
  readonly #progress: Progress | undefined;
  #kept = Date.now();
  readonly version: number;

  private constructor(meta: Collection<Meta>, holder: string, { version, migration }: Meta) {
    this.#meta = meta;
    this.#holder = holder;
    this.#progress = migration;
    this.version = version;
  }

  /**
   * @returns undefined when nothing is left to migrate
   * @throws MigrationUnderWay while another server has it
   */
  static async take(meta: Collection<Meta>, holder: string): Promise<Lease | undefined> {
    const isLeft = { $or: [{ version: { $lt: schemaVersion } }, { migration: { $exists: true } }] };
    const isOver = { $not: [{ $gt: ['$migration.until', '$$NOW'] }] };
    const isMine = { $eq: ['$migration.holder', holder] };
    const taken = await meta.findOneAndUpdate(
      { _id: 'schema', ...isLeft, $expr: { $or: [isOver, isMine] } },
      [{ $set: { migration: { $mergeObjects: ['$migration', { holder, until: soon }] } } }],
      { returnDocument: 'after' },
    );
    if (taken !== null) return new Lease(meta, holder, taken);
    if ((await meta.findOne({ _id: 'schema', ...isLeft })) === null) return undefined;
    throw new MigrationUnderWay('Another server migrates this database: this one waits for it.');
  }

  /** The id behind which records are left to migrate. */
  after(resource: Resource): string | undefined {
    return this.#progress?.[resource];
  }

  /**
   * Keeps it for another while, and the place where the migration is; once a second at most.
   *
   * @param done the last id that is migrated
   */
  async keep(resource?: Resource, done?: string): Promise<void> {
    if (Date.now() - this.#kept < limits.migrationKeepMs) return;
    const place = done !== undefined && { [`migration.${resource}`]: { $literal: done } };
    await this.#set({ 'migration.until': soon, ...place });
    this.#kept = Date.now();
  }

  /** From now on a server of an earlier version does not start. */
  async begin(): Promise<void> {
    await this.#set({ version: schemaVersion, 'migration.until': soon });
  }

  /** Ends the migration. */
  async end(): Promise<void> {
    await this.#meta.updateOne({ _id: 'schema' }, { $unset: { migration: true } });
  }

  /** Leaves the rest to whoever comes. */
  async leave(): Promise<void> {
    await this.#set({ 'migration.until': '$$NOW' });
  }

  /** By a pipeline, because only a pipeline can read the server's clock. */
  async #set(fields: object): Promise<void> {
    const mine = { _id: 'schema', 'migration.holder': this.#holder } as const;
    const { matchedCount } = await this.#meta.updateOne(mine, [{ $set: fields }]);
    if (matchedCount === 0)
      throw new MigrationUnderWay('Another server went on with the migration.');
  }
}

const soon = { $add: ['$$NOW', limits.migrationLeaseMs] };
