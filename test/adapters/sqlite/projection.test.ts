import { expect } from 'chai';
import fc from 'fast-check';
import type { Json } from '../../../src/domain/json.ts';
import { projected } from '../../../src/domain/record.ts';
import { customValue } from '../../support/arbitraries.ts';
import { stepped } from './support/faults.ts';
import { Folder } from './support/folder.ts';
import { post, user } from './support/records.ts';

const order = { by: 'createdAt', direction: 'asc' } as const;
const page = { filter: {}, order, limit: 10, bytes: 2 ** 20 };

/** JSON text with the members of the record itself in the order of their names. */
function sorted(json: string): string {
  const members = Object.entries(JSON.parse(json));
  return JSON.stringify(Object.fromEntries(members.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

describe('a list with fields of the sqlite store', () => {
  const folder = new Folder();
  const names = ['email', 'a.b', '$', '$.x', '[0]', '0', "it's", 'é～😀', 'constructor', 'none'];
  const name = fc.oneof(fc.constantFrom(...names), fc.string({ unit: 'grapheme', minLength: 1 }));
  const own = fc.dictionary(
    name.filter((one) => !['__proto__', 'id', 'title', 'body'].includes(one)),
    fc.oneof(
      customValue,
      fc.constantFrom<Json>(1e21, 1e-7, 5e-324, 0.1, 2 ** 53, 'x'.repeat(3000)),
    ),
  );

  it('has the texts that the whole records have, whatever is in them', async () => {
    const store = folder.open();
    const write = fc.asyncProperty(
      fc.array(fc.tuple(own, fc.string({ unit: 'grapheme' })), { minLength: 1, maxLength: 3 }),
      fc.array(fc.oneof(name, fc.constantFrom('title', 'body', 'authorId', 'updatedAt'))),
      fc.constantFrom(100, 2 ** 20),
      async (records, others, bytes) => {
        const made = records.map(([fields, title], n) => post(`${n}`, { ...fields, title }));
        await store.transfer.posts.load(
          made.map((record) => ({ record, version: 1, json: JSON.stringify(record) })),
        );
        const fields = ['id', ...new Set(others)];
        const ids = made.map(({ id }) => id);
        for (const filter of [{}, { ids }]) {
          let found = await store.posts.list({ ...page, filter, bytes, fields });
          const items = [...found.items];
          while (found.next !== undefined) {
            found = await store.posts.list({ ...page, filter, bytes, fields, after: found.next });
            items.push(...found.items);
          }
          for (const [n, record] of made.entries()) {
            const { json = '' } = items[n] ?? {};
            // Names that SQLite would not take as they are: the core cuts the records.
            if (!found.isProjected) expect(JSON.parse(json)).to.deep.equal(record);
            else expect(sorted(json)).to.equal(sorted(JSON.stringify(projected(record, fields))));
          }
        }
      },
    );
    await fc.assert(write, { numRuns: 200 });
  });

  it('names that JSON writes otherwise are left to the core', async () => {
    const store = folder.open();
    await store.users.create(user('ann', { '\ufffd': 1 }));
    for (const odd of ['\ud800', 'a"b', 'a\\b', 'a\nb', '']) {
      const { items, isProjected } = await store.users.list({ ...page, fields: ['id', odd] });
      expect([isProjected, items[0]?.record['\ufffd']]).to.deep.equal([false, 1]);
    }
    const many = Array.from({ length: 1000 }, (_, n) => `f${n}`);
    const { items } = await store.users.list({ ...page, fields: ['id', 'name', ...many] });
    expect(items[0]?.record.name).to.equal('Name of ann');
  });

  it('reads no large record that it can do without, and its bytes count what is left', async () => {
    const read: string[] = [];
    const store = folder.open(
      folder.file(),
      {},
      stepped((sql, run) => {
        if (sql.startsWith('SELECT') && /\brecord\b/.test(sql)) read.push(sql);
        return run();
      }),
    );
    const body = 'x'.repeat(100_000);
    for (let n = 0; n < 5; n++) await store.posts.create(post(`${n}`, { body, slug: `s${n}` }));
    const request = { ...page, bytes: 1000 };
    const titles = await store.posts.list({ ...request, fields: ['id', 'title'] });
    expect(titles.items.map(({ json }) => json).at(-1)).to.equal('{"id":"4","title":"T"}');
    expect(read).to.deep.equal([]);
    const slugs = await store.posts.list({ ...request, fields: ['id', 'slug'] });
    expect(slugs.items.map(({ json }) => json).at(-1)).to.equal('{"id":"4","slug":"s4"}');
  });
});
