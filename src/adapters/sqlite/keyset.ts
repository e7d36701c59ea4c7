import { instantToMs } from '../../domain/instant.ts';
import type { Order, Position, TimeSpan } from '../../domain/page.ts';
import { compareText } from '../../domain/text.ts';
import { type Condition, within } from './conditions.ts';
import type { SqlValue } from './database.ts';

type Direction = Order<string>['direction'];

/** `>` where keys grow from page to page, `<` where they fall. */
function behind(direction: Direction): '>' | '<' {
  return direction === 'asc' ? '>' : '<';
}

function behindPosition(
  column: string,
  direction: Direction,
  key: SqlValue,
  id: string,
): Condition {
  return { sql: `(${column}, id) ${behind(direction)} (?, ?)`, values: [key, id] };
}

/** What is behind a position, in an order by text. A key is never empty, so null is before all. */
export function afterText(column: string, direction: Direction, after?: Position): Condition[] {
  return after ? [behindPosition(column, direction, after.key ?? '', after.id)] : [];
}

/**
 * What is behind a position, in an order by a column that a filter holds to one value: the rest is
 * an order by id alone.
 *
 * @returns undefined when that is nothing
 */
export function afterPinned(
  value: string,
  direction: Direction,
  after?: Position,
): Condition[] | undefined {
  if (after === undefined) return [];
  const sign = direction === 'asc' ? 1 : -1;
  const ahead = compareText(value, after.key ?? '') * sign;
  if (ahead === 0) return [{ sql: `id ${behind(direction)} ?`, values: [after.id] }];
  return ahead > 0 ? [] : undefined;
}

/**
 * What is behind a position and within a span, in an order by instant.
 *
 * SQLite enters an index by one bound on either side. Where the position and the span bound the
 * same side, only the narrower is said, lest it enters by the other and walks to the page from
 * there.
 *
 * @returns undefined when that is nothing
 */
export function afterInstant(
  column: string,
  direction: Direction,
  after: Position | undefined,
  { from, before }: TimeSpan = {},
): Condition[] | undefined {
  if (after === undefined) return within(column, { from, before });
  const key = after.key === null ? Number.NEGATIVE_INFINITY : instantToMs(after.key);
  if (Number.isNaN(key)) return undefined;
  const position = behindPosition(column, direction, key, after.id);
  if (direction === 'asc') {
    const isInside = from === undefined || key >= instantToMs(from);
    return isInside ? [position, ...within(column, { before })] : within(column, { from, before });
  }
  const isInside = before === undefined || key < instantToMs(before);
  return isInside ? [position, ...within(column, { from })] : within(column, { from, before });
}
