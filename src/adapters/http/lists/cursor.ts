import { hash } from 'node:crypto';
import type { FieldDeclarations } from '../../../domain/fields/declared-fields.ts';
import type { Position, SortKey } from '../../../domain/lists/list.ts';
import { isPosition } from '../../../domain/lists/list-request.ts';
import { canonicalJson, type Json } from '../../../domain/records/json.ts';

/** A list, its sort and its filter as one text. A cursor is only valid with the same text. */
export function listIdentity(list: string, sort: string, filter: Json): string {
  return canonicalJson([list, sort, filter]).slice(0, -1);
}

/** Encodes a position in a list as an opaque string. */
export function encodeCursor({ key, id }: Position, identity: string): string {
  return Buffer.from(JSON.stringify([digest(key, id, identity), key, id])).toString('base64url');
}

/** Decodes a cursor. Returns undefined if it is malformed, was changed, or belongs to another list. */
export function decodeCursor(
  cursor: string,
  identity: string,
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
  return encodeCursor(position, identity) === cursor ? position : undefined;
}

/**
 * The version of the format and 96 bits of a digest of the cursor and its list: enough to tell lists apart and
 * to detect a changed character. It is not a secret.
 */
function digest(key: SortKey, id: string, identity: string): string {
  const text = `${identity},${JSON.stringify(key)},${JSON.stringify(id)}]`;
  return `2${hash('sha256', text, 'base64url').slice(0, 16)}`;
}
