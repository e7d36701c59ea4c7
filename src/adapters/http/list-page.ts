import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityFilter, Position } from '../../domain/page.ts';
import type { Entity } from '../../domain/record.ts';
import type { ApiRequest } from './endpoint.ts';
import type { ListQuery } from './list-query.ts';
import type { Service } from './record-handlers.ts';
import { Slots } from './slots.ts';

/** A page as it is answered: its records as JSON, and where the next page begins. */
export interface RenderedPage {
  readonly texts: readonly string[];
  readonly next: Position | undefined;
  readonly total: number | undefined;
}

/**
 * How many characters of records a page may have before it ends early. Pages may be shorter than
 * `limit`; without this one of a thousand large records would take a gigabyte.
 */
const pageCharacters = 8 * 1024 * 1024;

/**
 * How many records are there as objects at one time: 1 MiB of JSON becomes up to 22 MiB of them
 * (`[{},{},…`), and a thousand such records more than a process may have. So the first slice is
 * small, and those behind it have no more than the largest record so far allows.
 */
const sliceRecords = { first: 20, most: 50 };
const sliceCharacters = 2 * 1024 * 1024;

/**
 * How many slices are there at one time, over all requests, and for how long one waits for that: so
 * short that the request is still answered within ten seconds when the store then takes its time.
 */
const slices = { most: 16, waitMs: 1000 };

/** The slices of an app's lists. */
export function sliceSlots(): Slots {
  return new Slots(slices.most, slices.waitMs);
}

/**
 * Reads a page slice by slice, each one as text before the next is read. The slices go by position
 * as pages do, so what holds from page to page holds within this one.
 */
export async function readPage<R extends Entity, Filter extends EntityFilter, Sort extends string>(
  service: Service<R, Filter, Sort>,
  list: ListQuery<Filter, Sort>,
  sortKey: (record: R, by: Sort) => string | null,
  { grow, slots }: Pick<ApiRequest, 'grow' | 'slots'>,
): Promise<RenderedPage> {
  const texts: string[] = [];
  let characters = 0;
  let largest = 1;
  let next = list.after;
  let total: number | undefined;

  /** A function of its own, so that nothing holds a slice's records while the next is read. */
  async function addSlice(): Promise<void> {
    const { filter, order } = list;
    const isFirst = texts.length === 0;
    const most = isFirst ? sliceRecords.first : sliceLimit(largest);
    const limit = Math.min(most, list.limit - texts.length);
    const slice = await service.list({
      filter,
      order,
      limit,
      after: next,
      total: isFirst && list.total,
    });
    if (isFirst) total = slice.total;
    next = slice.next;
    const before = characters;
    for (const [i, { record }] of slice.items.entries()) {
      const text = JSON.stringify(record);
      texts.push(text);
      characters += text.length;
      largest = Math.max(largest, text.length);
      if (characters >= pageCharacters && i < slice.items.length - 1) {
        next = { key: sortKey(record, order.by), id: record.id };
        break;
      }
    }
    grow(characters - before);
  }

  await slots.run(addSlice);
  while (next !== undefined && texts.length < list.limit && characters < pageCharacters) {
    await nextTurn(); // Others are served meanwhile: a store may answer without ever waiting.
    await slots.run(addSlice);
  }
  return { texts, next, total };
}

function sliceLimit(largest: number): number {
  return Math.max(1, Math.min(sliceRecords.most, Math.floor(sliceCharacters / largest)));
}
