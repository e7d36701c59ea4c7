import type { EntityFilter, TimeSpan } from '../../domain/page.ts';
import type { Entity } from '../../domain/record.ts';

/** The part of a filter that both kinds of record have. */
export function matchesEntity({ ids, createdAt, updatedAt }: EntityFilter) {
  const wanted = ids && new Set(ids);
  return (record: Entity): boolean =>
    (wanted === undefined || wanted.has(record.id)) &&
    isWithin(record.createdAt, createdAt) &&
    isWithin(record.updatedAt, updatedAt);
}

/** True when a filter does not ask for a value, or asks for this one. */
export function isWanted<T>(wanted: T | undefined, value: T): boolean {
  return wanted === undefined || wanted === value;
}

function isWithin(instant: string, { from, before }: TimeSpan = {}): boolean {
  return (from === undefined || instant >= from) && (before === undefined || instant < before);
}
