import { type CustomFilterFields, customEqualities } from '../../../domain/custom-filters.ts';
import type { EntityFilter, PostFilter, UserFilter } from '../../../domain/list.ts';
import { ownIndexName, ownPath } from '../schema/indexes.ts';
import { isNeverStored, type Resource } from './conditions.ts';

/**
 * Lists that can be filtered by custom fields as well. In the order of `createdAt` they are read off
 * the index of a custom field; in any other, the keys of the records that it finds are sorted.
 */
export function withCustomFilters<Filter extends EntityFilter, Sort extends string>(
  resource: Resource<Filter, Sort>,
  fields?: CustomFilterFields,
): Resource<Filter, Sort> {
  return {
    ...resource,
    conditions(filter) {
      const own = customEqualities(filter.custom, fields);
      const conditions = resource.conditions(filter);
      const [first] = own.toSorted((a, b) => rankOf(a.type) - rankOf(b.type));
      if (first === undefined) return conditions;
      const texts = own.map(({ value }) => (typeof value === 'string' ? value : undefined));
      const found = {
        ...conditions,
        match: { ...conditions.match, ...ownMatch(own) },
        never: conditions.never || isNeverStored(...texts),
      };
      if (findsFew(filter)) return found;
      const index = ownIndexName(first.name);
      return {
        ...found,
        named: (by) => conditions.named(by) ?? (by === 'createdAt' ? undefined : index),
        index: () => index,
      };
    },
  };
}

/** A list that has the value in it is found in the index as well, and is not the value. */
function ownMatch(own: ReturnType<typeof customEqualities>): object {
  const matches = own.map(({ name, value }) => {
    return [ownPath(name), { $eq: value, $not: { $type: 'array' } }];
  });
  return Object.fromEntries(matches);
}

/** Most records may have one of two values. */
function rankOf(type: CustomFilterFields[string]): number {
  return type === 'boolean' ? 1 : 0;
}

/** Whether another filter has an index that finds fewer records, as far as one can tell. */
function findsFew({ name, title, authorId }: UserFilter & PostFilter): boolean {
  return name !== undefined || title !== undefined || typeof authorId === 'string';
}
