/** A post as the bare stores keep it. They add nothing to what the client sent but these. */
export interface BarePost {
  readonly id: string;
  readonly title: string;
  readonly authorId?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The least that keeps posts: no check, no version, no look at the author. */
export interface BareStore {
  /** The post as JSON. */
  get(id: string): string | undefined | Promise<string | undefined>;
  /** The newest posts as JSON, the newest first. */
  newest(limit: number): readonly string[] | Promise<readonly string[]>;
  /** Keeps a post; fulfilled with its JSON when that is as durable as in Rostrum. */
  add(post: BarePost): string | Promise<string>;
}
