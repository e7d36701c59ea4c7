import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '../../domain/json.ts';
import type { Position } from '../../domain/list.ts';
import { isCleanText } from '../../domain/text.ts';

/** What a cursor is bound to: it is of no use in another list. */
export interface ListIdentity {
  readonly list: string;
  readonly sort: string;
  readonly filter: Json;
}

/** The position as an opaque text: a place in this list, and in no other. */
export function encodeCursor({ key, id }: Position, identity: ListIdentity): string {
  return Buffer.from(JSON.stringify([bindingOf(identity), key, id])).toString('base64url');
}

/**
 * Reads a cursor. Only the very text that {@link encodeCursor} makes is one.
 *
 * @returns undefined for a cursor that is malformed or belongs to another list
 */
export function decodeCursor(cursor: string, identity: ListIdentity): Position | undefined {
  const position = positionIn(cursor);
  return position !== undefined && encodeCursor(position, identity) === cursor
    ? position
    : undefined;
}

function positionIn(cursor: string): Position | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [, key, id] = parts as unknown[];
  if (key !== null && !isText(key)) return undefined;
  return isText(id) ? { key, id } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && isCleanText(value);
}

/** The format's version and 96 bits of a digest: enough to tell lists apart; it is no secret. */
function bindingOf({ list, sort, filter }: ListIdentity): string {
  const identity = canonicalJson([list, sort, filter]);
  return `1${createHash('sha256').update(identity).digest('base64url').slice(0, 16)}`;
}
