const key = 'text collate "C"';

/**
 * A table has a record as JSON, and a column for each key that lists are sorted by. Text sorts by
 * code point: hence `collate "C"`. The ids of deleted records stay in a table beside it.
 */
export const schema = `
-- Of two processes that create one table at the same time, one would fail.
select pg_advisory_xact_lock(hashtext('rostrum'));
create schema if not exists rostrum;
${tables('users', `name ${key} not null, email ${key} constraint unique_email unique`)}
create index if not exists users_by_name on rostrum.users (name, id);
create index if not exists users_by_email on rostrum.users (coalesce(email, ''), id);
${tables('posts', `title ${key} not null, "publishedAt" ${key}, "authorId" ${key} constraint known_author references rostrum.users`)}
create index if not exists posts_by_title on rostrum.posts (title, id);
create index if not exists posts_by_publication on rostrum.posts (coalesce("publishedAt", ''), id);
create index if not exists posts_by_author on rostrum.posts ("authorId", "createdAt", id);
`;

/** The last index is over all fields of a record: it serves filters on any custom field. */
function tables(name: string, columns: string): string {
  return `
create table if not exists rostrum.${name} (
  id ${key} primary key, version bigint not null, json text not null,
  "createdAt" ${key} not null, "updatedAt" ${key} not null, ${columns}
);
create table if not exists rostrum.${name}_ids (id ${key} primary key);
create table if not exists rostrum.${name}_receipts (
  key text primary key, fingerprint text not null, until ${key} not null, json text not null
);
create index if not exists ${name}_receipts_by_end on rostrum.${name}_receipts (until);
create index if not exists ${name}_by_creation on rostrum.${name} ("createdAt", id);
create index if not exists ${name}_by_update on rostrum.${name} ("updatedAt", id);
create index if not exists ${name}_by_field on rostrum.${name}
  using gin ((json::jsonb) jsonb_path_ops);`;
}
