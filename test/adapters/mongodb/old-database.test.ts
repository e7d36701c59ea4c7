import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { Post } from '../../../src/domain/post.ts';
import { makeReceipt } from '../../../src/domain/receipt.ts';
import { describeOn, topologies } from '../../support/mongod/shared.ts';
import { untilServed } from '../../support/until.ts';
import { useDatabase } from './store-on.ts';

// Documents as the first version wrote them. It stored no schema version, marked with `loaded` what
// a load had stored, and digested the caller, the path, the key and the body of a request itself.

const at = '2026-11-21T09:30:00.000Z';
const until = '2100-01-01T00:00:00.000Z';
const input = { title: 'On engines', own: { _bsontype: 'x', $set: [1] } };
const entity = (id: string) => ({ id, createdAt: at, updatedAt: at });
const another = { ...entity('another'), title: '', body: '', authorId: null, publishedAt: at };
const fields = { title: 'On engines', body: '', authorId: 'ada' };
const stored = (id: string) => ({
  ...entity(id),
  ...fields,
  own: { '~_bsontype': 'x', $set: [1] },
});
const claims = (key: string, first?: object) => [
  {
    ...{ key, until, expires: new Date(until), ...(first && { first }) },
    fingerprint: '3040f021605dcd30f82ebc96ebc54899ac3f8dab8e4974923d56d261dbec73a7',
  },
];
const digests = {
  new: '769717777dfd4c9842a02c76df52e00d737633cd4746dbadcdd4842bde2a66ce',
  changed: 'a55695f71272de1d7cdfc16c6b6567d48f65dd97d6b2509dd0cc1de80eead5d6',
  deleted: 'bed122322bd50dc7b3164b18d9a87e68d82fce84fbfe119336814166b1ba1d79',
};
const keys = { new: 'k-1', changed: 'k-2', deleted: 'k-3' };
const mark = { token: 'of the dead', author: 'ada' };

const users = [
  {
    ...{ _id: 'ada', version: 7, emailKey: 'ada@example.org', loaded: 'by a load' },
    record: { ...entity('ada'), name: 'Ada', email: 'Ada@Example.org' },
    leaving: { token: 'of the dead', until: new Date(0) },
  },
];
const posts = [
  { _id: 'new', version: 1, record: stored('new'), claims: claims(digests.new) },
  {
    ...{ _id: 'changed', version: 9, loaded: 'by a load', joining: [mark] },
    record: { ...stored('changed'), title: 'Changed' },
    claims: claims(digests.changed, stored('changed')),
  },
  {
    ...{ _id: 'deleted', expires: new Date(until) },
    claims: claims(digests.deleted, stored('deleted')),
  },
  { _id: 'pending', pending: true, joining: [mark], expires: new Date(until) },
] as const;

for (const topology of topologies) {
  await describeOn(topology, 'A database of the first version', () => {
    const database = useDatabase(topology);
    const first = (id: string) => ({
      ...{ ...entity(id), ...fields, publishedAt: at, own: input.own },
    });

    async function open() {
      await database.db.dropDatabase();
      const all: Record<string, readonly Document[]> = { users, posts };
      for (const [name, documents] of Object.entries(all)) {
        await database.db.collection(name).insertMany([...documents] as Document[]);
      }
      const store = database.open();
      await untilServed(() => store.ready());
      return store;
    }

    async function expectReceipts(store: Awaited<ReturnType<typeof open>>) {
      for (const [id, idempotencyKey] of Object.entries(keys)) {
        const receipt = await makeReceipt({ idempotencyKey }, 'posts', input, at);
        const { record, version, replayed } = await store.posts.create(another, receipt);
        expect(record, id).to.deep.equal(first(id));
        expect({ version, replayed }).to.deep.equal({ version: 1, replayed: true });
      }
    }

    it('opens with every record, version and receipt', async () => {
      const store = await open();
      const scanned = await store.transfer.posts.scan({ limit: 10, bytes: 10_000 });
      expect(
        scanned.map(({ record, version }) => [record.id, version, record.title]),
      ).to.deep.equal([
        ['changed', 9, 'Changed'],
        ['new', 1, 'On engines'],
      ]);
      expect(scanned[1]?.record).to.deep.equal(first('new'));
      expect(await store.users.get('ada')).to.include({ version: 7 });
      await expectReceipts(store);
    });

    const changes: Record<string, (store: Awaited<ReturnType<typeof open>>) => Promise<void>> = {
      async 'its posts changed'({ posts }) {
        const change = ({ record }: { readonly record: Post }) => ({ ...record, title: 'Again' });
        expect(await posts.update('new', change)).to.include({ version: 2 });
        expect(await posts.update('changed', change)).to.include({ version: 10 });
      },
      async 'its posts deleted'({ posts }) {
        expect(await posts.delete('new')).to.equal(true);
        expect(await posts.delete('changed')).to.equal(true);
      },
      async 'its user changed, and deleted with the posts'(store) {
        const change = await store.users.update('ada', ({ record }) => ({ ...record, n: 1 }));
        expect(change).to.include({ version: 8 });
        expect(await store.users.delete('ada', 'delete', at)).to.deep.equal({ posts: 2 });
        expect(await store.posts.get('changed')).to.equal(undefined);
      },
      async 'its user deleted, and the posts kept'(store) {
        expect(await store.users.delete('ada', 'keep', at)).to.deep.equal({ posts: 2 });
        expect((await store.posts.get('changed'))?.record.authorId).to.equal(null);
        expect(await store.posts.get('changed')).to.include({ version: 10 });
      },
      async 'other records loaded over its own'({ transfer, users, posts }) {
        const one = await users.get('ada');
        const other = await posts.get('changed');
        if (one === undefined || other === undefined) throw new Error('They are gone.');
        await transfer.users.load([one]);
        for (const id of ['new', 'deleted', 'pending']) {
          const record = { ...other.record, id };
          await transfer.posts.load([{ record, json: JSON.stringify(record), version: 3 }]);
          expect(await posts.get(id)).to.include({ version: 3 });
        }
      },
    };
    for (const [what, change] of Object.entries(changes)) {
      it(`keeps every receipt with ${what}`, async () => {
        const store = await open();
        await change(store);
        await expectReceipts(store);
      });
    }
  });
}
