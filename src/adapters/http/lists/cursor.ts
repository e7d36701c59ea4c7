import { hash } from 'node:crypto';
import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import type { Position, SortKey } from '../../../domain/lists/list.ts';
import { isPosition } from '../../../domain/lists/list-request.ts';
import { canonicalJson, type Json } from '../../../domain/records/json.ts';

/** A collection, its sort and its conditions. A cursor is valid only for the same list. */
export type ListIdentity = readonly [collection: string, sort: string, conditions: Json];

/** Encodes a position in a list as an opaque string. */
export function encodeCursor({ key, id }: Position, list: ListIdentity): string {
  return Buffer.from(JSON.stringify([digest(key, id, list), key, id])).toString('base64url');
}

/** Decodes a cursor. Returns undefined if it is malformed, was changed, or belongs to another list. */
export function decodeCursor(
  cursor: string,
  list: ListIdentity,
  by: string,
  declared: FieldDeclarations | undefined,
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
  if (!isPosition(position, by, declared)) return undefined;
  return encodeCursor(position, list) === cursor ? position : undefined;
}

/**
 * The version of the format and 96 bits of a digest of the cursor and its list: enough to tell lists apart and
 * to detect a changed character. It is not a secret.
 */
function digest(key: SortKey, id: string, list: ListIdentity): string {
  const text = canonicalJson([...list, key, id]);
  return `2${hash('sha256', text, 'base64url').slice(0, 16)}`;
}
