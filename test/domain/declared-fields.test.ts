import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { postRules } from '../../src/domain/fields/rules.ts';
import { filterLimits } from '../../src/domain/lists/list.ts';
import { RecordModel } from '../../src/domain/records/record-model.ts';
import { createRostrum, isRostrumError, type Post } from '../../src/index.ts';
import { errorOf } from '../support/error-of.ts';

const now = '2026-11-21T09:30:00.000Z';
const declared = { slug: 'text', views: 'number', hot: 'boolean', tags: 'text[]' } as const;
const model = new RecordModel<Post>(postRules, undefined, declared);

/** What is wrong, as `pointer code`. */
function issues(act: () => unknown): string[] {
  try {
    act();
    return [];
  } catch (error) {
    if (!isRostrumError(error, 'invalid-record')) throw error;
    return error.details.issues.map(({ pointer, code }) => `${pointer} ${code}`);
  }
}

const create = (fields: object) => model.create({ title: 'x', ...fields }, 'p', now);

describe('a declared field', () => {
  it('is absent, null or a value of its type', () => {
    const right: Readonly<Record<keyof typeof declared, readonly unknown[]>> = {
      slug: [null, undefined, '', ' ', 'é', 'e\u0301', '\n', '😀'.repeat(1000)],
      views: [null, undefined, 0, -0, 0.1, 2 ** 53 - 1, 5e-324, -1e-300],
      hot: [null, undefined, true, false],
      tags: [null, undefined, [], [''], ['a', 'a'], Array(64).fill('😀'.repeat(200))],
    };
    for (const [name, values] of Object.entries(right)) {
      for (const value of values) {
        const kept = value === undefined ? {} : { [name]: Object.is(value, -0) ? 0 : value };
        expect(create({ [name]: value })).to.deep.include(kept);
      }
    }
    expect(create({})).not.to.have.any.keys(...Object.keys(declared));
  });

  it('rejects every other value with a pointer, and messages like those of known fields', () => {
    const wrong: readonly [string, unknown, ...string[]][] = [
      ['slug', 5, '/slug type'],
      ['slug', ['a'], '/slug type'],
      ['slug', 'x'.repeat(1001), '/slug too-long'],
      ['slug', 'a\0', '/slug invalid'],
      ['views', '5', '/views type'],
      ['views', true, '/views type'],
      ['views', Number.NaN, '/views number-range'],
      ['views', 2 ** 53, '/views number-range'],
      ['hot', 'true', '/hot type'],
      ['hot', 0, '/hot type'],
      ['tags', 'a', '/tags type'],
      ['tags', { 0: 'a' }, '/tags type'],
      ['tags', ['a', 1, null, ['b']], '/tags/1 type', '/tags/2 type', '/tags/3 type'],
      ['tags', ['a', 'x'.repeat(201)], '/tags/1 too-long'],
      ['tags', Array(65).fill(''), '/tags too-long'],
    ];
    const stored = create({});
    for (const [name, value, ...expected] of wrong) {
      const input = { title: 'x', [name]: value };
      const ways = [
        () => create(input),
        () => model.replace(stored, input, now),
        () => model.patch(stored, input, now),
      ];
      for (const way of ways) expect(issues(way), name).to.deep.equal(expected);
    }
  });

  it('is removed by null in a patch', () => {
    const stored = create({ slug: 'a', tags: ['a'] });
    expect(model.patch(stored, { slug: null, tags: null }, now)).not.to.have.any.keys(
      'slug',
      'tags',
    );
  });
});

describe('a name that is almost publishedAt or authorId', () => {
  const names = ['publishedat', 'published_at', 'Published-At', 'author_id', 'AUTHORID'];

  it('is rejected in a post, because the post would be published at once', () => {
    for (const name of names) {
      const expected = [`/${name} key`];
      expect(issues(() => create({ [name]: null }))).to.deep.equal(expected);
      expect(issues(() => model.patch(create({}), { [name]: 'x' }, now))).to.deep.equal(expected);
    }
    for (const name of ['published', 'created_at', 'Name', 'author', 'publishedAtAll']) {
      expect(create({ [name]: 'x' })).to.have.property(name, 'x');
    }
  });

  it('is kept and can be removed where it is stored, but not changed', () => {
    for (const name of names) {
      const stored = { ...create({}), [name]: 'x' };
      const put = (value: unknown) => model.replace(stored, { title: 'y', [name]: value }, now);
      expect(model.patch(stored, { title: 'y' }, now)).to.have.property(name, 'x');
      expect(put('x')).to.have.property(name, 'x');
      expect(model.patch(stored, { [name]: null }, now)).not.to.have.property(name);
      expect(issues(() => put('y'))).to.deep.equal([`/${name} key`]);
    }
  });

  it('is free if it is declared or in the schema', () => {
    const validate = (value: unknown) => ({ value });
    const schema = (names?: ReadonlySet<string>) => ({
      '~standard': { version: 1, vendor: 'test', validate } as const,
      names,
    });
    const input = { title: 'x', author_id: 'a' };
    for (const one of [
      new RecordModel(postRules, undefined, { author_id: 'text' }),
      new RecordModel(postRules, schema(new Set(['author_id']))),
      new RecordModel(postRules, schema()),
    ]) {
      expect(one.create(input, 'p', now)).to.have.property('author_id', 'a');
    }
    const other = new RecordModel(postRules, schema(new Set(['authorid'])));
    expect(issues(() => other.create(input, 'p', now))).to.deep.equal(['/author_id key']);
  });
});

describe('a list', () => {
  const { posts } = createRostrum(createMemoryStore({ declaredFields: { posts: declared } }));

  it('has at most 32 conditions, and asks for at most 64 elements', async () => {
    expect(filterLimits).to.deep.equal({ conditions: 32, elements: 64 });
    const elements = (count: number) => posts.list({ filter: { tags: Array(count).fill('a') } });
    await elements(64);
    expect(await errorOf(elements(65))).to.be.instanceOf(RangeError);
    const fields = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`f${n}`, 'number']));
    const store = createMemoryStore({
      declaredFields: { posts: fields as Record<string, 'number'> },
    });
    const wide = createRostrum(store);
    const range = { from: 1, before: 2 };
    const ranges = Object.fromEntries(Object.keys(fields).map((name) => [name, range]));
    await wide.posts.list({ filter: ranges });
    const more = { ...ranges, title: 'x' };
    expect(await errorOf(wide.posts.list({ filter: more }))).to.be.instanceOf(RangeError);
  });
});
