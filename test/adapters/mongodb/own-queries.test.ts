import { expect } from 'chai';
import { BSON, type Document, ObjectId } from 'mongodb';
import type { Post } from '../../../src/domain/records/post.ts';
import type { User } from '../../../src/domain/records/user.ts';
import { at, post, times, user } from '../../../src/testing/fixtures.ts';
import { blocksOf } from '../../docs/markdown.ts';
import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

// Runs the queries of docs/mongodb.md as mongosh would.

const blocks = blocksOf('docs/mongodb.md', 'js').map(({ text }) => text);

/** The documents that the page shows, each with the query for it. */
const shown = blocks.flatMap((text) => {
  const [, query, document] = /^\/\/ (db\..*)\n(\{[\s\S]*\})/.exec(text) ?? [];
  return query === undefined || document === undefined ? [] : { query, document: read(document) };
});

function read(text: string): Document {
  const types = {
    ObjectId: (hex: string) => new ObjectId(hex),
    ISODate: (text: string) => new Date(text),
  };
  return new Function(...Object.keys(types), `return ${text}`)(...Object.values(types));
}

/** Returns the record in a document, as a person would read it. */
function recordOf({ _id, version, custom, authorLock, ...fields }: Document): User & Post {
  const own = Object.entries(fields).filter(([name]) => !name.endsWith('Key'));
  return JSON.parse(JSON.stringify({ id: _id, ...Object.fromEntries(own), ...custom }));
}

await describeOnMongodb('the documentation of MongoDB documents', () => {
  const database = useDatabase();

  before(() => database.open().ready());
  beforeEach(() => database.clear());

  async function run(query: string): Promise<unknown> {
    const get = (_: object, name: string) => {
      const collection = database.db.collection(name);
      return {
        aggregate: (pipeline: Document[]) => collection.aggregate(pipeline),
        find: (filter: Document, projection: Document) => collection.find(filter, { projection }),
        findOne: (filter: Document) => collection.findOne(filter),
      };
    };
    const db = new Proxy({}, { get });
    const result = await new Function('db', `return ${query}`)(db);
    return 'toArray' in result ? result.toArray() : result;
  }

  async function runBlock(words: RegExp): Promise<unknown> {
    const found = blocks.filter((text) => words.test(text));
    expect(found).to.have.lengthOf(1);
    return run(found[0]?.trim() ?? '');
  }

  it('shows a user and a post as they are stored', async () => {
    const { transfer } = database.open();
    expect(shown).to.have.lengthOf(2);
    for (const { query, document } of shown) {
      const to = query.startsWith('db.users') ? transfer.users : transfer.posts;
      await to.load([{ record: recordOf(document), version: document.version, json: '' }]);
    }
    for (const { query, document } of shown) {
      const stored = (await run(query)) as Document;
      if (document.authorLock) stored.authorLock = document.authorLock;
      expect(BSON.EJSON.stringify(stored)).to.equal(BSON.EJSON.stringify(document));
    }
  });

  it('has a query for the posts per tag', async () => {
    const { posts } = database.open();
    for (const tags of [['a', 'b'], ['b'], [], null]) await posts.create(post({ tags }));
    expect(await runBlock(/\$unwind/)).to.deep.equal([
      { _id: 'b', posts: 2 },
      { _id: 'a', posts: 1 },
    ]);
  });

  it('has a query for the posts with the most views', async () => {
    const { posts } = database.open({ declaredFields: { posts: { views: 'number' } } });
    const views = (n: number) => (n === 0 ? null : (n * 7) % 13);
    for (const n of times(13, (it) => it)) {
      await posts.create(post({ id: `p${n}`, title: `T${n}`, views: views(n) }));
    }
    const found = (await runBlock(/limit\(10\)/)) as Document[];
    expect(found.map(({ custom }) => custom.views)).to.deep.equal(times(10, (n) => 12 - n));
    expect(found[0]).to.deep.equal({ _id: 'p11', title: 'T11', custom: { views: 12 } });
  });

  it('has a query for authors with the number of their drafts', async () => {
    const { users, posts } = database.open();
    for (const name of ['Ada', 'Bob']) await users.create(user({ id: name, name }));
    for (const publishedAt of [null, at(1), null]) {
      await posts.create(post({ authorId: 'Bob', publishedAt }));
    }
    expect(await runBlock(/\$lookup/)).to.deep.equal([
      { _id: 'Ada', name: 'Ada', drafts: 0 },
      { _id: 'Bob', name: 'Bob', drafts: 2 },
    ]);
  });
});
