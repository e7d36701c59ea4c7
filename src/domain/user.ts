import type { OwnFieldsSchema } from './own-fields.ts';
import type { Entity } from './record.ts';
import { type RecordModel, recordModel } from './record-model.ts';
import { userRules } from './rules.ts';

/** A user; whatever other fields it has are a deployment's own. */
export interface User extends Entity {
  readonly name: string;
  readonly email: string | null;
}

export function userModel(ownFields?: OwnFieldsSchema): RecordModel<User> {
  return recordModel(userRules, ownFields);
}
