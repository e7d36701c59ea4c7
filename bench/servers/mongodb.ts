import { MongoClient } from 'mongodb';
import type { BareStore } from './bare-store.ts';

/**
 * One collection with the plain driver, and Rostrum's read concern, write concern and number of connections.
 */
export async function mongodb(url: string): Promise<BareStore> {
  const client = new MongoClient(url, {
    writeConcern: { w: 'majority', journal: true },
    readConcernLevel: 'majority',
    maxPoolSize: 50,
  });
  await client.connect();
  const posts = client.db().collection<{ _id: string }>('posts');
  const json = ({ _id, ...post }: { _id: string }) => JSON.stringify({ id: _id, ...post });
  return {
    async get(id) {
      const found = await posts.findOne({ _id: id });
      return found === null ? undefined : json(found);
    },
    async newest(limit) {
      return (await posts.find().sort({ _id: -1 }).limit(limit).toArray()).map(json);
    },
    async add(post) {
      const { id, ...fields } = post;
      await posts.insertOne({ _id: id, ...fields });
      return JSON.stringify(post);
    },
  };
}
