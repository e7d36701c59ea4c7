import { searchFields } from 'rostrum/ports';

/** Text that sorts by code point. */
const text = 'text collate "C"';

/**
 * A table has a row for each id that was ever used: the version, the record as JSON, and a column for
 * each value that lists are filtered and sorted by. The row of a deleted record has only its id and its
 * last version.
 */
export const schema = `
-- Without this lock, two processes that create a table at the same time can fail.
select pg_advisory_xact_lock(hashtext('rostrum'));
create schema if not exists rostrum;
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
-- Over all fields of a record, for conditions on any custom field.
create index if not exists ${name}_by_field on rostrum.${name}
  using gin ((json::jsonb) jsonb_path_ops);`;
}

/** Makes an index for lists that are sorted by a field. */
function index(name: 'users' | 'posts', field: string): string {
  const columns = [...sortKeys(field), 'id'].join(', ');
  return `create index if not exists "${name}_by_${field}" on rostrum.${name} (${columns})
  where json is not null;`;
}

/** Returns what lists by a field are sorted by, before the id: null comes before all text. */
export function sortKeys(field: string): readonly string[] {
  const isNullable = ['emailKey', 'authorId', 'publishedAt'].includes(field);
  return isNullable ? [`("${field}" is not null)`, `coalesce("${field}", '')`] : [`"${field}"`];
}
