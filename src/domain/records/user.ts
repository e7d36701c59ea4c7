import type { CustomFieldsInput } from '../fields/custom-fields.ts';
import { knownFields } from '../fields/rules.ts';
import { isFieldName } from './i-json.ts';
import type { JsonObject } from './json.ts';
import type { MergePatch } from './merge-patch.ts';
import type { ServerMadeFields, ServerMadeInput } from './record.ts';

// Type aliases, because an interface is not assignable to `JsonObject`.
type UserFields = ServerMadeFields & {
  readonly name: string;
  readonly email: string | null;
};

type UserInputFields = ServerMadeInput & {
  readonly name: string;
  readonly email?: string | null | undefined;
};

/** A user, with a deployment's custom fields. */
export type User<Custom extends object = JsonObject> = UserFields & Readonly<Custom>;

/**
 * The public view of a user, for callers with the scope `users:read:public`. It has the custom fields that a
 * deployment has made public, and the email address only if it is one of them.
 */
export type PublicUser<Custom extends object = JsonObject> = Pick<
  UserFields,
  'id' | 'name' | 'createdAt'
> &
  Partial<Pick<UserFields, 'email'>> &
  Readonly<Partial<Custom>>;

/**
 * Checks which fields a deployment makes public.
 *
 * @throws TypeError for a name that is neither `email` nor possible for a custom field of users
 */
export function checkPublicUserFields(names: readonly string[]): void {
  if (!Array.isArray(names)) {
    throw new TypeError('The option "publicUserFields" must be a list of names.');
  }
  for (const name of names) {
    if (name === 'email' || (isFieldName(name) && !knownFields.users.includes(name))) continue;
    throw new TypeError(
      `"${name}" cannot be made public: it must be a custom field of users, or email.`,
    );
  }
}

/** A caller's input for a user. */
export type UserInput<Custom extends object = CustomFieldsInput> = UserInputFields &
  Readonly<Custom>;

/** A JSON merge patch of a user (RFC 7396). */
export type UserPatch<Custom extends object = CustomFieldsInput> = MergePatch<UserInputFields> &
  MergePatch<Custom>;
