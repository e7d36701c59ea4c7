import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Own } from './imports.ts';
import { importSite, type Outcome, type serveFiles } from './site.ts';
import { type SiteSource, site, sources, userNames } from './sources.ts';

type Rows = { users: Own[]; posts: Own[] };
type Change = (rows: Rows) => void;

// The oracle: what a file says, by its raw rows. It shares no code with the import.

const plainName = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z:]/g, '')
    .replace('wp:', '');
const hidden = 'draft private pending trash inherit members only_paid unpublished'.split(' ');

/** True if a row says that its post is not public. */
function isHidden(row: Own): boolean {
  return Object.entries(row).some(([key, value]) => {
    const name = plainName(key);
    const text = `${value ?? ''}`.trim().toLowerCase();
    if (['draft', 'private', 'isdraft'].includes(name)) return ['true', '1', 'yes'].includes(text);
    if (['published', 'ispublished'].includes(name)) {
      return value !== null && ['false', '0', 'no', ''].includes(text);
    }
    if (/^(post)?password$/.test(name)) return !['', 'null', 'false', '0'].includes(text);
    return /^(post)?(status|visibility|audience)$/.test(name) && hidden.includes(text);
  });
}

const authorKeys = ['dc:creator', 'author', 'post_author', 'Author Email', 'E-Mail', 'Author ID'];

function hasAuthor(row: Own): boolean {
  const value = row.authors ?? authorKeys.map((key) => row[key]).find((one) => one !== undefined);
  const [first] = [value].flat();
  const text = String(Object(first).$oid ?? first ?? '').trim();
  return (
    !['', '0', 'null', 'undefined', 'NULL', 'false'].includes(text) && !text.startsWith('0000')
  );
}

/** Rows that a recipe is allowed to leave out: they are not posts. */
function isOther(row: Own): boolean {
  const values = Object.entries(row).filter(([key]) => /status|type/i.test(key));
  return values.some(([, value]) =>
    /^(trash|inherit|auto-draft|attachment)$/i.test(`${value}`.trim()),
  );
}

const marker = (text: unknown) => /Text (\d+)/.exec(`${text}`)?.[1];

function check({ users, posts, messages, results }: Outcome, rows: Rows, source: SiteSource): void {
  if (messages.length > 0) return; // The exit code is not 0.
  const kept = rows.posts.filter((row) => !isOther(row));
  expect(posts.length, 'posts').to.be.within(kept.length, rows.posts.length);
  const omitted = rows.posts.length - posts.length;
  expect(results.at(-1)?.omitted ?? 0, 'left out').to.be.at.least(omitted);
  const withUsers = Object.keys(source.userRow(0)).length > 0;
  if (withUsers) expect(users.length, 'users').to.equal(rows.users.length);
  for (const row of rows.posts) {
    const text = markerOf(row);
    const found = posts.filter(({ body }) => marker(body) === text);
    const isRepeated = rows.posts.filter((other) => markerOf(other) === text).length > 1;
    if (found.length !== 1 || isRepeated) continue; // The body is empty, or not the only one: the counts hold.
    const what = JSON.stringify([row, found[0]]);
    if (isHidden(row)) expect(found[0]?.publishedAt, what).to.equal(null);
    if (hasAuthor(row)) expect(found[0]?.authorId, what).to.be.a('string');
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const markerOf = (row: Own) => marker(Object.values(row).map(textOf));

// The changes.

const words = [
  ...hidden.flatMap((word) => [word, word.toUpperCase(), ` ${word} `]),
  ...['publish', 'Published', 'true', 'TRUE', 'false', 'False', '0', '1', '', 'yes', 'no', 'NULL'],
];
const values = [...words, null, true, false, 0, 1];
const keys = ['draft', 'status', 'Visibility', 'is_published', 'isDraft', 'post_status', 'note'];
const times = [
  '',
  'yesterday',
  '0000-00-00 00:00:00',
  '20190501100000',
  '1556704800',
  '2019-05-01',
];
const isText = (value: unknown) => marker(textOf(value)) === undefined;

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];
/** The columns of a row that hold one value, and not the text of the post. */
const columnsOf = (row: Own) =>
  Object.keys(row).filter(
    (key) => key !== 'file' && typeof row[key] !== 'object' && isText(row[key]),
  );

function setValue(rows: Own[], n: number, k: number, value: unknown): void {
  const row = pick(rows, n) ?? {};
  const column = pick([...columnsOf(row), ...keys], k);
  if (column !== undefined) row[column] = value;
}

function removeColumn(rows: Own[], n: number, k: number): void {
  const row = pick(rows, n) ?? {};
  const column = pick(columnsOf(row), k);
  if (column !== undefined) delete row[column];
}

function repeat(rows: Own[], n: number): void {
  const row = { ...pick(rows, n) };
  // Two rows of one file would overwrite each other.
  while (row.file !== undefined && rows.some(({ file }) => file === row.file)) {
    row.file = `again/${row.file}`;
  }
  rows.push(row);
}

const [n, k, value] = [fc.nat(5), fc.nat(40), fc.constantFrom(...values, ...times)];
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(n, k, value).map(
      (one): Change =>
        ({ posts }) =>
          setValue(posts, ...one),
    ),
  },
  fc.tuple(n, k).map(
    (one): Change =>
      ({ posts }) =>
        removeColumn(posts, ...one),
  ),
  n.map(
    (one): Change =>
      ({ posts }) =>
        repeat(posts, one),
  ),
  n.map(
    (one): Change =>
      ({ posts }) =>
        void posts.splice(one, 1),
  ),
  n.map(
    (one): Change =>
      ({ users }) =>
        void users.splice(one % 2, 1),
  ),
);

/** Imports sites with random changes. Whatever changes, nothing is lost without a word. */
export async function fuzz(
  runs: number,
  folder: string,
  server: Awaited<ReturnType<typeof serveFiles>>,
): Promise<void> {
  let [n, accepted] = [0, 0];
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  const given = fc.record({
    source: fc.constantFrom(...sources),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  });
  const property = fc.asyncProperty(given, async ({ source, changes }) => {
    n += 1;
    const rows = {
      users: userNames.map((_, i) => source.userRow(i)),
      posts: Object.values(site).map(source.postRow),
    };
    for (const one of changes) one(rows);
    if (rows.posts.length === 0) return;
    const place = join(folder, `${n}`);
    mkdirSync(place);
    const outcome = await importSite(source, rows, place, server);
    rmSync(place, { recursive: true });
    if (outcome.messages.length === 0) accepted += 1;
    try {
      check(outcome, rows, source);
    } catch (error) {
      const file = JSON.stringify(rows, undefined, 1);
      throw new Error(`${source.title}: ${(error as Error).message}\n${file}`, { cause: error });
    }
  });
  await fc.assert(property, { numRuns: runs, seed, endOnFailure: true });
  console.log(`    ${accepted} of ${n} changed sites were imported without a rejection`);
}
