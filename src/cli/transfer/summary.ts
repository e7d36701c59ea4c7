import { createHash } from 'node:crypto';
import { canonicalJson } from '../../domain/json.ts';
import type { Entity, Versioned } from '../../domain/record.ts';
import { counted } from '../count.ts';

/** The two kinds of records, in the order in which they are copied and written. */
export type RecordKind = 'user' | 'post';

/** Tells whether two stores hold the same records. */
export interface Summary {
  readonly users: number;
  readonly posts: number;
  /**
   * SHA-256 in hex over a line for each record, users before posts and each by id: the canonical
   * JSON of its `record` and `version`.
   */
  readonly sha256: string;
}

/** Counts and hashes records, which have to come in their order. */
export class Summarizer {
  readonly #hash = createHash('sha256');
  readonly #counts = { user: 0, post: 0 };

  add(kind: RecordKind, { record, version }: Versioned<Entity>): void {
    this.#counts[kind] += 1;
    this.#hash.update(`${canonicalJson({ record, version })}\n`);
  }

  /** Ends the summary; to be called once. */
  end(): Summary {
    const { user: users, post: posts } = this.#counts;
    return { users, posts, sha256: this.#hash.digest('hex') };
  }
}

export function sameSummary(a: Summary, b: Summary): boolean {
  return a.users === b.users && a.posts === b.posts && a.sha256 === b.sha256;
}

export function summaryText({ users, posts, sha256 }: Summary): string {
  return `${counted(users, 'user')}, ${counted(posts, 'post')}, sha256 ${sha256}`;
}
