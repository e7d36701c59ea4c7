import { emailTaken, unknownAuthor } from '../../domain/errors.ts';
import type { Connection } from './connection.ts';
import type { PostRow, UserRow } from './rows.ts';

/**
 * Why a constraint other than the primary key's does not hold for a row; undefined when it does.
 *
 * Looked up in the same transaction: drivers say it in their message alone, and of several they
 * name any.
 */
export type FindConflict<Row> = (row: Row, connection: Connection) => Error | undefined;

export const userConflict: FindConflict<UserRow> = ({ id, email_key }, connection) => {
  const sql = 'SELECT 1 FROM users WHERE email_key = ? AND id <> ?';
  return connection.get(sql, email_key, id) === undefined ? undefined : emailTaken();
};

export const postConflict: FindConflict<PostRow> = ({ author_id }, connection) => {
  if (author_id === null) return undefined;
  const author = connection.get('SELECT 1 FROM users WHERE id = ?', author_id);
  return author === undefined ? unknownAuthor() : undefined;
};
