import { emailKey } from '../../domain/email.ts';
import type { UserFilter, UserSort } from '../../domain/page.ts';
import { type Conditions, commonConditions, neverHeld, type SortPaths } from './list-query.ts';

export const userPaths: SortPaths<UserSort> = {
  createdAt: 'record.createdAt',
  updatedAt: 'record.updatedAt',
  name: 'record.name',
  email: 'emailKey',
};

export function userConditions(filter: UserFilter): Conditions<UserSort> {
  const { ids, name, email } = filter;
  const key = email === undefined ? undefined : emailKey(email);
  return {
    match: {
      ...commonConditions(filter),
      ...(name !== undefined && { 'record.name': name }),
      ...(key !== undefined && { emailKey: key }),
    },
    // An empty key stands for a missing address, and is nobody's.
    never: key === '' || neverHeld(name, key),
    few: key !== undefined ? 'email' : ids !== undefined ? '_id_' : undefined,
    index: (by) => (name === undefined || by === 'name' ? by : 'name_createdAt'),
  };
}
