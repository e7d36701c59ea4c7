import type { CustomFieldsInput } from '../custom-fields.ts';
import type { CustomFilterFields, CustomFilterOf } from '../custom-filters.ts';
import type { JsonObject } from '../json.ts';
import type { PostFilter, PostSort } from '../list.ts';
import type { Post, PostInput, PostPatch } from '../post.ts';
import type { Precondition } from '../precondition.ts';
import type { Id } from '../record.ts';
import type { RecordService } from './record-service.ts';

/** What can be done with posts, one method a use case. */
export interface PostService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
  Fields = CustomFilterFields,
> extends RecordService<
    Post<Custom>,
    PostInput<Input>,
    PostPatch<Input>,
    PostFilter<CustomFilterOf<Fields>>,
    PostSort
  > {
  /**
   * Deletes a post.
   *
   * @throws RostrumError `post-not-found`, `precondition-required`, `version-mismatch`
   */
  delete(id: Id, precondition?: Precondition): Promise<void>;
}
