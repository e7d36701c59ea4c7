import { emailKey } from '../../domain/email.ts';
import { type Instant, instantFromMs, instantToMs } from '../../domain/instant.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Post } from '../../domain/post.ts';
import type { Entity, Id, Version } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { SqlValue } from './database.ts';

/** What the rows of both tables have; the others of their columns are each one's own. */
export type EntityRow = Readonly<Record<string, SqlValue>> & {
  readonly id: string;
  readonly version: number;
  readonly created_at: number;
  readonly updated_at: number;
  /** A JSON object. */
  readonly own: string;
};

export type UserRow = EntityRow & {
  readonly name: string;
  readonly email: string | null;
  readonly email_key: string | null;
};

export type PostRow = EntityRow & {
  readonly author_id: string | null;
  readonly title: string;
  readonly body: string;
};

/** How records of a kind are kept in rows. A row is all text and numbers, so never an alias. */
export interface RowMapping<R extends Entity, Row extends EntityRow> {
  readonly table: 'users' | 'posts';
  readonly columns: readonly (keyof Row & string)[];
  toRow(record: R, version: Version): Row;
  toRecord(row: Row): R;
}

const entityColumns = ['id', 'version', 'created_at', 'updated_at', 'own'] as const;

export const userRows: RowMapping<User, UserRow> = {
  table: 'users',
  columns: [...entityColumns, 'name', 'email', 'email_key'],
  toRow({ id, createdAt, updatedAt, name, email, ...own }, version) {
    const email_key = email === null ? null : emailKey(email);
    return { ...entityRow(id, version, createdAt, updatedAt, own), name, email, email_key };
  },
  toRecord: (row) => recordOf(row, { name: row.name, email: row.email }),
};

export const postRows: RowMapping<Post, PostRow> = {
  table: 'posts',
  columns: [...entityColumns, 'author_id', 'title', 'body'],
  toRow({ id, createdAt, updatedAt, authorId, title, body, ...own }, version) {
    const entity = entityRow(id, version, createdAt, updatedAt, own);
    return { ...entity, author_id: authorId, title, body };
  },
  toRecord(row) {
    return recordOf(row, { title: row.title, body: row.body, authorId: row.author_id });
  },
};

function entityRow(
  id: Id,
  version: Version,
  createdAt: Instant,
  updatedAt: Instant,
  own: JsonObject,
): EntityRow {
  return {
    id,
    version,
    created_at: instantToMs(createdAt),
    updated_at: instantToMs(updatedAt),
    own: JSON.stringify(own),
  };
}

function recordOf<F extends JsonObject>(row: EntityRow, fields: F): Entity & F {
  const own: JsonObject = JSON.parse(row.own);
  return {
    id: row.id,
    ...fields,
    ...own,
    createdAt: instantFromMs(row.created_at),
    updatedAt: instantFromMs(row.updated_at),
  };
}
