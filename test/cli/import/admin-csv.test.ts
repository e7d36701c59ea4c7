import { expect } from 'chai';
import fc from 'fast-check';
import { csvOf } from '../../../packages/rostrum-admin/src/page/csv.ts';
import { delimiterOf, readCsv } from '../../../src/cli/import/csv.ts';
import { createMatcher } from '../../../src/cli/import/fields.ts';
import { createRostrum } from '../../../src/index.ts';
import { openTemporarySqlite } from '../../support/temporary-sqlite.ts';
import { Imports, type Own } from './imports.ts';

const declaredFields = {
  posts: { slug: 'text', price: 'number', hot: 'boolean', tags: 'text[]' },
} as const;

describe('rostrum import: the CSV of the admin page', () => {
  const imports = new Imports();

  /** Imports into an empty store, and returns it. */
  async function imported(csv: string) {
    await imports.store.close();
    const store = openTemporarySqlite({ declaredFields });
    imports.store = store;
    await imports.run(csv, { file: 'posts.csv', as: 'posts', keepIds: true, declaredFields });
    expect(imports.rejected).to.deep.equal([]);
    return createRostrum(store);
  }

  it('contains what was imported, and is the same after another import', async () => {
    const rows = [
      'ID;Title;Published At;SLUG;Price;hot;Tags;@note',
      'a;"=1+1";2020-01-01T00:00:00Z;-a;1,5;TRUE;rust, news;x',
      `b;'twas;;'@b;-2;0;"[""a, b"",""""]";'-`,
      `c;'=2;2021-01-01T00:00Z;''c;1e3;False;[];`,
      'd;D;2022-01-01T00:00Z;;12;1;-1, b;"x\n""y"""',
      'e;E;2023-01-01T00:00Z;e;;;rust;',
    ];
    const { posts } = await imported(rows.join('\n'));
    const idsOf = async (filter: NonNullable<Parameters<typeof posts.list>[0]>['filter']) => {
      const { items } = await posts.list({ filter });
      return items.map(({ record }) => record.id).sort();
    };
    expect(await idsOf({ slug: '-a' })).to.deep.equal(['a']);
    expect(await idsOf({ slug: '@b' })).to.deep.equal(['b']);
    expect(await idsOf({ slug: "'c" })).to.deep.equal(['c']);
    expect(await idsOf({ price: 1.5 })).to.deep.equal(['a']);
    expect(await idsOf({ price: { from: 12 } })).to.deep.equal(['c', 'd']);
    expect(await idsOf({ hot: true })).to.deep.equal(['a', 'd']);
    expect(await idsOf({ hot: false })).to.deep.equal(['b', 'c']);
    expect(await idsOf({ tags: ['rust', 'news'] })).to.deep.equal(['a']);
    expect(await idsOf({ tags: ['a, b', ''] })).to.deep.equal(['b']);
    expect(await idsOf({ tags: ['-1'] })).to.deep.equal(['d']);
    expect(await idsOf({ title: '=2' })).to.deep.equal(['c']);

    const exported = async (from: typeof posts) => {
      const { items } = await from.list({ order: { by: 'title', direction: 'asc' } });
      return csvOf(items.map(({ record }) => record));
    };
    const first = await exported(posts);
    expect(first).to.contain(`,'=1+1,`).and.contain(`,''twas,`).and.contain(`,"rust, news",`);
    expect(await exported((await imported(first)).posts)).to.equal(first);
  });

  it('gives every value back', async () => {
    const part = fc.constantFrom(
      ...[...`'=+-@\t\r\n＝＋－＠,;"[]{}\\ a0N`, '\u00a0', '\ufeff', '\u2028', 'é', '😀'],
    );
    const text = fc.oneof(
      fc.constantFrom('null', 'NULL', '\\N', '0000-00-00', 'true', '12', '["a"]', '{}'),
      fc.string({ unit: part, maxLength: 6 }),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
    );
    const number = fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.integer());
    const post = fc.record(
      {
        id: text.map((end) => `p${end}`),
        title: text,
        body: text,
        authorId: text,
        publishedAt: fc.constantFrom('', '2020-01-01T00:00:00.000Z'),
        slug: text.filter((slug) => slug !== ''),
        price: number.map((price) => price + 0), // JSON has no -0.
        hot: fc.boolean(),
        tags: fc.array(text, { maxLength: 4 }),
      },
      { requiredKeys: ['id', 'title', 'body', 'authorId', 'publishedAt'] },
    );
    const read = async (csv: string) => {
      const pieces = async function* () {
        yield csv;
      };
      const text = { name: 'posts.csv', head: csv, pieces: pieces() };
      const delimiter = delimiterOf(text);
      const { convert } = createMatcher(
        'posts',
        { ...text, delimiter },
        undefined,
        declaredFields.posts,
      );
      const found: Own[] = [];
      for await (const { content } of readCsv(text, delimiter)) found.push(convert(content as Own));
      return found;
    };
    const property = fc.asyncProperty(
      fc.array(post, { minLength: 1, maxLength: 3 }),
      async (posts) => {
        expect(await read(csvOf(posts).slice(1))).to.deep.equal(posts);
      },
    );
    await fc.assert(property, { numRuns: 1000 });
  });
});
