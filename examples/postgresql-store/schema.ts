import pg from 'pg';
import {
  type CollectionField,
  DeclarationError,
  type QueryField,
  searchFields,
} from 'rostrum/ports';

/** Text that sorts by code point. */
const text = 'text collate "C"';
const nullableColumns = ['emailKey', 'authorId', 'publishedAt'];

/**
 * A table has a row for each id that was ever used: the version, the record as JSON, and a column for
 * each value that lists are filtered and sorted by. The row of a deleted record has only its id and its
 * last version.
 */
export const schema = `
-- Without this lock, two processes that create a table at the same time can fail.
select pg_advisory_xact_lock(hashtext('rostrum'));
create schema if not exists rostrum;
create or replace function rostrum.has_type(type text, value jsonb) returns boolean
  language sql immutable return case
    when coalesce(jsonb_typeof(value), 'null') = 'null' then true
    when type = 'text' then jsonb_typeof(value) = 'string' and length(value #>> '{}') <= 1000
    when type <> 'text[]' then jsonb_typeof(value) = type
    when jsonb_typeof(value) <> 'array' then false
    else jsonb_array_length(value) <= 64 and not exists (
      select from jsonb_array_elements(value) as element
      where jsonb_typeof(element) <> 'string' or length(element #>> '{}') > 200
    )
  end;
create table if not exists rostrum.filling (id int primary key);
${tables(
  'users',
  // Posts refer to this column, which is null for a deleted user.
  `existing ${text} generated always as (case when json is not null then id end) stored,
  constraint existing_user unique (existing), constraint unique_email unique ("emailKey")`,
)}
${index('users', 'nameKey')}
${index('users', 'emailKey')}
${tables(
  'posts',
  `constraint known_author foreign key ("authorId") references rostrum.users (existing)`,
)}
${index('posts', 'titleKey')}
${index('posts', 'publishedAt')}
create index if not exists posts_by_author on rostrum.posts ("authorId", "createdAt", id);
`;

function tables(name: 'users' | 'posts', others: string): string {
  const columns = Object.keys(searchFields[name]).map((field) => `"${field}" ${text}`);
  return `
create table if not exists rostrum.${name} (
  id ${text} primary key, version bigint not null, json text, ${columns.join(', ')}, ${others}
);
create table if not exists rostrum.${name}_receipts (
  key text primary key, fingerprint text not null, until ${text} not null, json text not null,
  version bigint not null default 1
);
create index if not exists ${name}_receipts_by_end on rostrum.${name}_receipts (until);
create index if not exists ${name}_deleted on rostrum.${name} (id) where json is null;
${index(name, 'createdAt')}
${index(name, 'updatedAt')}
-- Over all fields of a record, for conditions on declared fields.
create index if not exists ${name}_by_field on rostrum.${name}
  using gin ((json::jsonb) jsonb_path_ops);`;
}

/** Makes an index for lists that are sorted by a field. */
function index(name: 'users' | 'posts', field: string): string {
  const columns = [...sortKeys({ field }), 'id'].join(', ');
  return `create index if not exists "${name}_by_${field}" on rostrum.${name} (${columns})
  where json is not null;`;
}

/** Returns what lists by a field are sorted by, before the id: null comes before all text. */
export function sortKeys(by: QueryField): readonly string[] {
  const value = expressionOf(by);
  const isRequired = !(by.declaredType || nullableColumns.includes(by.field));
  if (isRequired) return [value];
  const least = by.declaredType === 'number' ? 0 : "''";
  return [`(${value} is not null)`, `coalesce(${value}, ${least})`];
}

/** Returns the SQL expression for the value of a field: a column, or a text or number in the JSON. */
export function expressionOf({ field, declaredType }: QueryField): string {
  if (declaredType === undefined) return `"${field}"`;
  const value = `json::jsonb ->> ${pg.escapeLiteral(field)}`;
  return declaredType === 'number' ? `(${value})::float8` : `(${value} collate "C")`;
}

/** The statements that declare a field, find the records that break it, and remove it. */
export function declareStatements(declared: CollectionField) {
  const { collection, name, type, isUnique } = declared;
  const [constraint, index] = [`declared_${name}`, `unique_${collection}_${name}`];
  // PostgreSQL cuts longer names, and the error would name another field.
  if (Buffer.byteLength(index) > 63) throw new DeclarationError(`"${name}" is too long a name.`);
  const table = `rostrum.${collection}`;
  const quoted = pg.escapeIdentifier(constraint);
  const isRight = `rostrum.has_type('${type}', json::jsonb -> ${pg.escapeLiteral(name)})`;
  const value = expressionOf({ field: name, declaredType: type });
  // An index entry has at most 2,704 bytes, and a text up to 4,000.
  const key = type === 'text' ? `md5(${value})` : `(${value})`;
  const uniqueIndex = `create unique index if not exists ${pg.escapeIdentifier(index)} on ${table} (${key});`;
  return {
    add: `alter table ${table} add constraint ${quoted} check (${isRight}) not valid;
      comment on constraint ${quoted} on ${table} is '${type}${isUnique ? ':unique' : ''}';`,
    validate: `alter table ${table} validate constraint ${quoted};`,
    createIndex: isUnique ? uniqueIndex : '',
    findBroken: `select json from ${table} where not ${isRight} limit 9`,
    findEqual: `select id from ${table} join
      (select ${key} as same from ${table} group by 1 having count(*) > 1 limit 1) as equal
      on ${isUnique} and ${key} = same limit 9`,
    remove: `alter table ${table} drop constraint if exists ${quoted};
      drop index if exists rostrum.${pg.escapeIdentifier(index)};`,
  };
}

/** Returns the field of a unique index; undefined for another constraint. */
export function uniqueField(constraint = ''): string | undefined {
  return /^unique_(?:users|posts)_(.+)$/.exec(constraint)?.[1];
}

/** Returns the field of a constraint on its type; undefined for another constraint. */
export function declaredField(constraint = ''): string | undefined {
  return /^declared_(.+)$/.exec(constraint)?.[1];
}
