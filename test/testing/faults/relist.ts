import { emailKey } from '../../../src/domain/email.ts';
import type { EntityFilter, Order, PageRequest, Position } from '../../../src/domain/page.ts';
import type { Entity, Versioned } from '../../../src/domain/record.ts';
import { compareText } from '../../../src/domain/text.ts';
import type { Repository } from '../../../src/ports/repository.ts';
import { inBoth, type Plan } from './plant.ts';

type Compare = (a: Position, b: Position, direction: 'asc' | 'desc') => number;
type KeyOf = (record: Entity, by: string) => string | null;

/** The order that the ports ask for. */
export const compareKeys = (a: string | null, b: string | null): number =>
  a === null || b === null ? Number(b === null) - Number(a === null) : compareText(a, b);

export const keyOf: KeyOf = (record, by) => {
  const value = record[by];
  if (typeof value !== 'string') return null;
  return by === 'email' ? emailKey(value) : value;
};

export function placeOf(record: Entity, { by }: Order<string>): Position {
  return { key: keyOf(record, by), id: record.id };
}

/** Lists that are sorted in another order; `compare` is given places in either direction. */
export function sortedBy(compare: Compare, key: KeyOf = keyOf): Plan {
  return inBoth((inner) => ({
    list: async (filter, page) => {
      const { order, limit, after } = page;
      const place = (record: Entity) => ({ key: key(record, order.by), id: record.id });
      const all = await allOf(inner, filter, page);
      const sorted = all.toSorted((a, b) =>
        compare(place(a.record), place(b.record), order.direction),
      );
      const behind = sorted.filter(
        ({ record }) => !after || compare(place(record), after, order.direction) > 0,
      );
      const items = behind.slice(0, limit);
      const last = items.at(-1);
      return { items, ...(behind.length > limit && last && { next: place(last.record) }) };
    },
  }));
}

/** Filters that are changed on their way in. */
export function filteredBy(change: (filter: EntityFilter) => EntityFilter): Plan {
  return inBoth((inner) => ({
    list: (filter, page) => inner.list(change(filter) as typeof filter, page),
  }));
}

/** Lists that let through, of all records, what this says. */
export function matchedBy(
  matches: (record: Entity, filter: Readonly<Record<string, unknown>>) => boolean,
): Plan {
  return inBoth((inner) => ({
    list: async (filter, page) => {
      const all = await allOf(inner, {} as typeof filter, page);
      const found = all.filter(({ record }) =>
        matches(record, filter as Readonly<Record<string, unknown>>),
      );
      const compare = (a: Position, b: Position) =>
        compareKeys(a.key, b.key) || compareText(a.id, b.id);
      const { after, limit, order } = page;
      const behind = found.filter(
        ({ record }) => !after || compare(placeOf(record, order), after) > 0,
      );
      const items = behind.slice(0, limit);
      const last = items.at(-1);
      const next = behind.length > limit && last && { next: placeOf(last.record, order) };
      return { items, ...next, total: found.length };
    },
  }));
}

export async function allOf<R extends Entity, F, O>(
  inner: Repository<R, F, O>,
  filter: F,
  { order }: PageRequest<O>,
): Promise<readonly Versioned<R>[]> {
  return (await inner.list(filter, { order, limit: 1000 })).items;
}
