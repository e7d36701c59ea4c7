import type { CustomFieldsInput } from '../fields/custom-fields.ts';
import type { FieldDeclarations } from '../fields/declared-fields.ts';
import type {
  CustomInputOf,
  CustomOf,
  DeclaredFilterOf,
  DeclaredSortOf,
} from '../lists/declared-types.ts';
import type { Page } from '../lists/list.ts';
import type { ListRequest } from '../lists/list-request.ts';
import type { PostFilter, PostSort } from '../lists/search.ts';
import type { JsonObject } from '../records/json.ts';
import type { Post, PostInput, PostPatch } from '../records/post.ts';
import type { Precondition } from '../records/precondition.ts';
import type { Id, Versioned } from '../records/record.ts';
import type { PublicUser } from '../records/user.ts';
import type { Listed, NamesIn, RecordService } from './record-service.ts';

export interface PageWithAuthors<R> extends Page<R> {
  readonly users: readonly Versioned<PublicUser>[];
}

/** The use cases of posts, one method each. */
export interface PostService<
  Custom extends object = JsonObject,
  Input extends object = CustomFieldsInput,
  Fields = FieldDeclarations,
> extends RecordService<
    Post<CustomOf<Custom, Fields>>,
    PostInput<CustomInputOf<Input, Fields>>,
    PostPatch<CustomInputOf<Input, Fields>>,
    PostFilter<DeclaredFilterOf<Fields>>,
    PostSort | DeclaredSortOf<Fields>
  > {
  /**
   * Returns a page of posts like `list`, and the authors of its posts, each once, in the public view. That
   * is a second read, so an author who was deleted meanwhile can be missing.
   *
   * @param request with `fields`, each post has its `authorId` too
   */
  listWithAuthors<const Names extends NamesIn<Post<CustomOf<Custom, Fields>>> = undefined>(
    request?: ListRequest<
      PostFilter<DeclaredFilterOf<Fields>>,
      PostSort | DeclaredSortOf<Fields>,
      Names
    >,
  ): Promise<PageWithAuthors<Listed<Post<CustomOf<Custom, Fields>>, Names>>>;

  /**
   * Deletes a post.
   *
   * @throws RostrumError `post-not-found`, `precondition-required`, `version-mismatch`
   */
  delete(id: Id, precondition?: Precondition): Promise<void>;
}
