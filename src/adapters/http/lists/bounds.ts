import { compareKeys } from '../../../domain/lists/list.ts';
import type { Query } from '../target.ts';

/** The bounds of a range in a query, such as `createdAt[gte]`, and what they mean. */
export const bounds = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;

/** The values at or after `from`, and before `before`. */
export interface Span<T> {
  from?: T;
  before?: T;
}

/**
 * Reads the bounds of a field, which are valid.
 *
 * @param valuesAt returns the first value at or after a bound, and the first value after it
 */
export function readSpan<T extends string | number>(
  query: Query,
  field: string,
  valuesAt: (text: string) => readonly [at: T, after: T],
): Span<T> {
  const span: Span<T> = {};
  for (const bound of Object.keys(bounds)) {
    const [text] = query.get(`${field}[${bound}]`) ?? [];
    if (text === undefined) continue;
    const [at, after] = valuesAt(text);
    if (bound === 'gte' || bound === 'gt') narrow(span, 'from', bound === 'gte' ? at : after);
    else narrow(span, 'before', bound === 'lt' ? at : after);
  }
  return span;
}

/** Moves an end of a span. Of several bounds on one side the narrower one counts. */
export function narrow<T extends string | number>(
  span: Span<T>,
  end: 'from' | 'before',
  value: T,
): void {
  const present = span[end];
  const order = present === undefined ? 0 : compareKeys(value, present);
  if (present === undefined || (end === 'from' ? order > 0 : order < 0)) span[end] = value;
}
