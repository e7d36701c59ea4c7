import type { CustomFieldsInput } from '../fields/custom-fields.ts';
import { type Instant, nextInstant } from './instant.ts';
import type { JsonObject } from './json.ts';
import type { MergePatch } from './merge-patch.ts';
import type { Id, ServerMadeFields, ServerMadeInput } from './record.ts';

// Type aliases, because an interface is not assignable to `JsonObject`.
type PostFields = ServerMadeFields & {
  readonly title: string;
  readonly body: string;
  /** The id of an existing user, or null. */
  readonly authorId: Id | null;
  /** The time from which the post is public; null for a draft. With a later time it is scheduled. */
  readonly publishedAt: Instant | null;
};

type PostInputFields = ServerMadeInput & {
  readonly title: string;
  readonly body?: string | null | undefined;
  readonly authorId?: Id | null | undefined;
  /**
   * A date-time of RFC 3339, or null for a draft. When absent, a new post is published now, and a post
   * that is replaced keeps what it has.
   */
  readonly publishedAt?: string | null | undefined;
};

/** A post, with a deployment's custom fields. */
export type Post<Custom extends object = JsonObject> = PostFields & Readonly<Custom>;

/** A caller's input for a post. */
export type PostInput<Custom extends object = CustomFieldsInput> = PostInputFields &
  Readonly<Custom>;

/** A JSON merge patch of a post (RFC 7396). */
export type PostPatch<Custom extends object = CustomFieldsInput> = MergePatch<PostInputFields> &
  MergePatch<Custom>;

/** True if a post is public at this time. */
export function isPublic({ publishedAt }: Pick<Post, 'publishedAt'>, now: Instant): boolean {
  return publishedAt !== null && publishedAt <= now;
}

/** Returns the post without its author, as an ordinary change. */
export function withoutAuthor(post: Post, at: Instant): Post {
  return { ...post, authorId: null, updatedAt: nextInstant(post.updatedAt, at) };
}
