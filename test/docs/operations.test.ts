import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { createRostrum } from '../../src/index.ts';
import { blocksOf, shown } from './markdown.ts';

/** Creates the users and posts that the page reads. */
async function makeStore(path: string): Promise<void> {
  const declaredFields = { posts: { tags: 'text[]', views: 'number' } } as const;
  await using store = openSqliteStore({ path, declaredFields });
  let minute = 29;
  const clock = { now: () => `2026-11-28T09:${++minute}:00.000Z` };
  let last = 0;
  const ids = { next: () => `0196-${++last}` };
  const { users, posts } = createRostrum(store, { clock, ids });
  const ada = await users.create({ name: 'Ada Lovelace', email: 'Ada@Example.com' });
  minute = 29;
  const body = 'They weave algebra.';
  const fields = { title: 'On engines', body, authorId: ada.record.id };
  const post = await posts.create({ ...fields, tags: ['math', 'news'] });
  await posts.patch(post.record.id, { views: 12 });
  await posts.create({ title: 'On numbers', authorId: null, tags: ['news'], views: 7 });
  await posts.create({ title: 'A draft', authorId: ada.record.id, publishedAt: null });
}

/** Formats rows like the sqlite3 shell: of whole records in the mode `line`, otherwise in the mode `list`. */
function output(rows: readonly Record<string, unknown>[], sql: string): string {
  const lines = rows.map((row) => {
    if (!sql.startsWith('SELECT *')) return Object.values(row).join('|');
    const width = Math.max(...Object.keys(row).map((name) => name.length));
    return Object.entries(row)
      .map(([name, value]) => `${name.padStart(width)} = ${value}`)
      .join('\n');
  });
  return lines.join('\n');
}

describe('the queries in docs/operations.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-docs-'));
  const path = join(folder, 'rostrum.db');
  before(() => makeStore(path));
  after(() => rmSync(folder, { recursive: true }));

  const blocks = blocksOf('docs/operations.md');
  for (const [i, { language, text: sql, line }] of blocks.entries()) {
    if (language !== 'sql') continue;
    it(`return what the page shows, on line ${line}`, () => {
      const database = new DatabaseSync(path, { readOnly: true });
      try {
        const rows = database.prepare(sql).all();
        expect(output(rows, sql)).to.match(shown(blocks[i + 1]?.text ?? ''));
      } finally {
        database.close();
      }
    });
  }

  it('find the most viewed posts by the index of a declared field', () => {
    const database = new DatabaseSync(path, { readOnly: true });
    const sql = blocks.find(
      ({ language, text }) => language === 'sql' && text.includes('LIMIT 10'),
    );
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql?.text}`).all();
    database.close();
    expect(plan.map(({ detail }) => detail)).to.deep.equal([
      'SCAN posts USING INDEX posts_declared_views',
    ]);
  });
});
