import { type Instant, nextInstant } from './instant.ts';
import type { OwnFieldsSchema } from './own-fields.ts';
import type { Entity, Id } from './record.ts';
import { type RecordModel, recordModel } from './record-model.ts';
import { postRules } from './rules.ts';

/** A post; whatever other fields it has are a deployment's own. */
export interface Post extends Entity {
  readonly title: string;
  readonly body: string;
  /** The id of an existing user, or null. */
  readonly authorId: Id | null;
}

export function postModel(ownFields?: OwnFieldsSchema): RecordModel<Post> {
  return recordModel(postRules, ownFields);
}

/** The post as it is when its author is gone: a change like any other. */
export function withoutAuthor(post: Post, now: Instant): Post {
  return { ...post, authorId: null, updatedAt: nextInstant(post.updatedAt, now) };
}
