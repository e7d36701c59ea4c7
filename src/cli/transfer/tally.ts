import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '../../domain/json.ts';
import type { Entity } from '../../domain/record.ts';
import type { Batch } from './walk.ts';

export type KindName = 'users' | 'posts';

/** What tells whether two stores hold the same. */
export interface Tally {
  readonly users: number;
  readonly posts: number;
  /**
   * SHA-256 in hex over a line for each record, users before posts and each by id: the canonical
   * JSON of its `record` and `version`.
   */
  readonly sha256: string;
}

/** Counts and sums up records, which have to come in their order. */
export class Tallying {
  readonly #hash = createHash('sha256');
  readonly #counts = { users: 0, posts: 0 };

  add(kind: KindName, batch: Batch<Entity>): void {
    this.#counts[kind] += batch.length;
    for (const { record, version } of batch) {
      this.#hash.update(`${canonicalJson({ record, version } satisfies JsonObject)}\n`);
    }
  }

  /** Of all that was added. To be asked for once. */
  end(): Tally {
    return { ...this.#counts, sha256: this.#hash.digest('hex') };
  }
}

export function sameTally(a: Tally, b: Tally): boolean {
  return a.users === b.users && a.posts === b.posts && a.sha256 === b.sha256;
}

export function tallyText({ users, posts, sha256 }: Tally): string {
  return `${users} users, ${posts} posts, sha256 ${sha256}`;
}
