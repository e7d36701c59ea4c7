import assert from 'node:assert/strict';
import type { Entity } from '../domain/record.ts';
import { idsOf, type Lister, walk } from './walk.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;

/** Stores records whose createdAt grows, and tells their ids. */
export async function put<R extends Entity>(
  repository: { create(record: R): Promise<unknown> },
  records: readonly R[],
): Promise<string[]> {
  await Promise.all(records.map((record) => repository.create(record)));
  return idsOf(records);
}

/** Holds the list, its total and its pages to the ids that a filter has to match. */
export async function matches<R extends Entity, Filter>(
  lister: Lister<R, Filter, typeof order>,
  filter: Filter,
  ids: readonly string[],
): Promise<void> {
  const told = JSON.stringify(filter);
  const page = await lister.list(filter, { order, limit: 100, total: true });
  assert.deepEqual(idsOf(page.items.map(({ record }) => record)), ids, `list of ${told}`);
  assert.equal(page.total, ids.length, `total of ${told}`);
  assert.deepEqual(idsOf(await walk(lister, { filter, order, limit: 1 })), ids, `walk of ${told}`);
}
