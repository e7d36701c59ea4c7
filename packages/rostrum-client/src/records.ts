// The types of records. They repeat the server's own types, so that this package depends on nothing;
// a test checks that both are equal.

/** A JSON value (RFC 8259). */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}

/** Identifies a record. Treat it as an opaque string. */
export type Id = string;

/** Starts at 1 and grows by 1 with every change of a record. */
export type Version = number;

/** A moment in UTC with milliseconds: `2026-11-21T09:30:00.000Z`. */
export type Instant = string;

/** Whether a failed change was made: surely not, or perhaps. */
export type Outcome = 'none' | 'unknown';

/** Custom fields of an input, when the program gives no type for them. */
export interface CustomFieldsInput {
  readonly [field: string]: Json | undefined;
}

// Type aliases, because an interface is not assignable to JsonObject.
type ServerFields = {
  readonly id: Id;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};

type UserFields = ServerFields & {
  readonly name: string;
  readonly email: string | null;
};

type PostFields = ServerFields & {
  readonly title: string;
  readonly body: string;
  /** The id of an existing user, or null. */
  readonly authorId: Id | null;
  /** When the post becomes public; null for a draft. */
  readonly publishedAt: Instant | null;
};

/** The server ignores these fields in an input, so you can send a record back as you read it. */
type ServerFieldsInput = { readonly [K in keyof ServerFields]?: ServerFields[K] | undefined };

type UserInputFields = ServerFieldsInput & {
  readonly name: string;
  readonly email?: string | null | undefined;
};

type PostInputFields = ServerFieldsInput & {
  readonly title: string;
  readonly body?: string | null | undefined;
  readonly authorId?: Id | null | undefined;
  /**
   * An RFC 3339 date-time, or null for a draft. If absent, a new post is published now, and a
   * replaced post keeps its value.
   */
  readonly publishedAt?: string | null | undefined;
};

/** A user with custom fields. */
export type User<Custom extends object = JsonObject> = UserFields & Readonly<Custom>;

/**
 * The public view of a user, which callers with the scope `users:read:public` get. It has the email
 * address and custom fields only if the deployment made them public.
 */
export type PublicUser<Custom extends object = JsonObject> = Pick<
  UserFields,
  'id' | 'name' | 'createdAt'
> &
  Partial<Pick<UserFields, 'email'>> &
  Readonly<Partial<Custom>>;

export type UserInput<Custom extends object = CustomFieldsInput> = UserInputFields &
  Readonly<Custom>;

/** Changes to a user (RFC 7396). */
export type UserPatch<Custom extends object = CustomFieldsInput> = MergePatch<UserInputFields> &
  MergePatch<Custom>;

/** A post with custom fields. */
export type Post<Custom extends object = JsonObject> = PostFields & Readonly<Custom>;

export type PostInput<Custom extends object = CustomFieldsInput> = PostInputFields &
  Readonly<Custom>;

/** Changes to a post (RFC 7396). */
export type PostPatch<Custom extends object = CustomFieldsInput> = MergePatch<PostInputFields> &
  MergePatch<Custom>;

/** A JSON merge patch (RFC 7396): null removes an optional field, objects merge. */
type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | (undefined extends T[K] ? null : never) }
    : T;

export type UserSort = 'createdAt' | 'updatedAt' | 'name' | 'email';
export type PostSort = 'createdAt' | 'updatedAt' | 'title' | 'publishedAt';

/** What can be wrong with a field. Stable within v1. */
export type FieldCode =
  | 'required'
  | 'type'
  | 'too-short'
  | 'too-long'
  | 'invalid'
  | 'unknown'
  | 'taken'
  | 'mismatch'
  | 'key'
  | 'too-deep'
  | 'too-large'
  | 'number-range';
