/**
 * A table has a record as JSON text, and a column for each key that lists are sorted by. Texts sort
 * by code point, so they are `COLLATE "C"`. The ids of deleted records stay in a table beside it.
 * Any custom field can be filtered by with the one index over the whole record.
 */
export const schema = `
-- Several servers may be opened at once.
select pg_advisory_xact_lock(hashtext('rostrum'));
create schema if not exists rostrum;

create table if not exists rostrum.users (
  id text collate "C" primary key,
  version bigint not null,
  json text not null,
  "createdAt" text collate "C" not null,
  "updatedAt" text collate "C" not null,
  name text collate "C" not null,
  -- The key that makes an address unique.
  email text collate "C" constraint unique_email unique
);
create table if not exists rostrum.posts (
  id text collate "C" primary key,
  version bigint not null,
  json text not null,
  "createdAt" text collate "C" not null,
  "updatedAt" text collate "C" not null,
  title text collate "C" not null,
  "authorId" text collate "C" constraint known_author references rostrum.users
);
${['users', 'posts']
  .map(
    (table) => `
create table if not exists rostrum.${table}_ids (id text collate "C" primary key);
create table if not exists rostrum.${table}_receipts (
  key text primary key,
  fingerprint text not null,
  until text collate "C" not null,
  json text not null
);
create index if not exists ${table}_receipts_until on rostrum.${table}_receipts (until);
create index if not exists ${table}_by_creation on rostrum.${table} ("createdAt", id);
create index if not exists ${table}_by_update on rostrum.${table} ("updatedAt", id);
create index if not exists ${table}_by_field on rostrum.${table}
  using gin ((json::jsonb) jsonb_path_ops);`,
  )
  .join('')}
create index if not exists users_by_name on rostrum.users (name, id);
create index if not exists users_by_email on rostrum.users (coalesce(email, ''), id);
create index if not exists posts_by_title on rostrum.posts (title, id);
create index if not exists posts_by_author on rostrum.posts ("authorId", "createdAt", id);
`;
