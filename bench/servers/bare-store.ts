/** A post in the bare stores, which only add these fields to the input. */
export interface BarePost {
  readonly id: string;
  readonly title: string;
  readonly authorId?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A minimal store of posts, without validation, versions or a check of the author. */
export interface BareStore {
  /** Returns the post as JSON. */
  get(id: string): string | undefined | Promise<string | undefined>;
  /** Returns the newest posts as JSON, newest first. */
  newest(limit: number): readonly string[] | Promise<readonly string[]>;
  /** Stores a post and resolves with its JSON once it is as durable as in Rostrum. */
  add(post: BarePost): string | Promise<string>;
}
