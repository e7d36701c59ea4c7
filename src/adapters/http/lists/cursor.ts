import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../../domain/json.ts';
import type { Position } from '../../../domain/list.ts';
import { isPosition } from '../../../domain/list-request.ts';

/** A list, its sort and its filter as one text. A cursor is bound to it: elsewhere it is of no use. */
export type ListIdentity = string & { readonly list: unique symbol };

export function listIdentity(list: string, sort: string, filter: Json): ListIdentity {
  return canonicalJson([list, sort, filter]).slice(0, -1) as ListIdentity;
}

/** A position in this list, and in no other, as an opaque text. */
export function encodeCursor({ key, id }: Position, identity: ListIdentity): string {
  return Buffer.from(JSON.stringify([digest(key, id, identity), key, id])).toString('base64url');
}

/**
 * Reads a cursor. Only the very text that {@link encodeCursor} makes is one.
 *
 * @returns undefined for a cursor that is malformed, was changed, or belongs to another list
 */
export function decodeCursor(
  cursor: string,
  identity: ListIdentity,
  by: string,
): Position | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [, key, id] = parts as unknown[];
  const position = { key, id };
  if (!isPosition(position, by)) return undefined;
  return encodeCursor(position, identity) === cursor ? position : undefined;
}

/**
 * The format's version and 96 bits of a digest of the whole cursor and its list: enough to tell
 * lists apart, and to see a character that was changed. It is no secret.
 */
function digest(key: string | null, id: string, identity: ListIdentity): string {
  const text = `${identity},${JSON.stringify(key)},${JSON.stringify(id)}]`;
  return `2${hash('sha256', text, 'base64url').slice(0, 16)}`;
}
