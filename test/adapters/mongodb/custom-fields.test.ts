import { expect } from 'chai';
import type { Json } from '../../../src/domain/json.ts';
import { at, post, receipt, user } from '../../../src/testing/fixtures.ts';
import { describeOn } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// What JSON takes for data, and BSON, the driver or the server may take for something else.
const odd: Record<string, Json> = {
  'a type of BSON by name': { _bsontype: 'ObjectId', id: 'x' },
  'a type of BSON that is none': { _bsontype: 'Nothing' },
  'a type of BSON that is no text': [{ _bsontype: 1 }, { _bsontype: { _bsontype: 'Long' } }],
  'the escape of such a key': { '~_bsontype': 1, '~~_bsontype': 2, _bsontype: 3, '~': 4 },
  'a reference': { $ref: 'users', $id: 'x', $db: 'y' },
  'half a reference': [{ $ref: 'users' }, { $id: 1 }, { '~$ref': 1, $ref: 2 }],
  'extended JSON': [{ $oid: '0123456789abcdef01234567' }, { $numberLong: '1' }, { $date: 0 }],
  operators: { $set: { a: 1 }, $where: 'true', $expr: '$$ROOT', '': 1, $: { $: 1 } },
  'paths with dots': { 'a.b': { 'c.': 1, '.d': 2, '..': 3 }, '.': 4 },
  'names of our own': { _id: 1, record: 2, claims: [], leaving: {}, joining: 3, pending: true },
  'what objects inherit': { constructor: 1, toString: 2, hasOwnProperty: 3, toBSON: { a: 1 } },
  'arrays of objects under such names': { toString: [{ valueOf: [[{}]] }], '~toString': [{}] },
  'numbers for keys': { 2: 'b', 1: 'a', '-1': 'c', '01': 'd', 4294967296: 'e' },
};

await describeOn('replica set', 'Custom fields that BSON knows otherwise', () => {
  const database = useDatabase('replica set');

  for (const [what, value] of Object.entries(odd)) {
    it(`come back as they were: ${what}`, async () => {
      const store = database.open();
      const own = { own: value, ...(Array.isArray(value) ? {} : asMembers(value)) };
      const author = user(own);
      const written = post({ ...own, authorId: author.id, updatedAt: at(0) });
      const once = receipt();
      await store.users.create(author, once);
      await store.posts.create(written, once);
      expect((await store.users.get(author.id))?.record).to.deep.equal(author);
      expect((await store.posts.get(written.id))?.record).to.deep.equal(written);

      // Changed in place, listed, released by a cascade, and as they were first made.
      await store.users.update(author.id, ({ record }) => ({ ...record, more: value }));
      const page = await store.users.list({ ...listed, filter: { ids: [author.id] } });
      expect(page.items[0]?.record).to.deep.equal({ ...author, more: value });
      await store.users.delete(author.id, 'keep', at(0));
      expect((await store.posts.get(written.id))?.record).to.deep.equal({
        ...written,
        authorId: null,
        updatedAt: at(1),
      });
      expect((await store.users.create(user(), once))?.record).to.deep.equal(author);
      expect((await store.posts.create(post(), once))?.record).to.deep.equal(written);
    });
  }
});

const listed = { order: { by: 'createdAt', direction: 'asc' }, limit: 10, bytes: 10_000 } as const;

/** The same as fields of the record itself, too. */
function asMembers(value: Json): Record<string, Json> {
  return typeof value === 'object' && value !== null && !('' in value)
    ? (value as Record<string, Json>)
    : {};
}
