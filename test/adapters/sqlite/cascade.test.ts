import { expect } from 'chai';
import fc from 'fast-check';
import { instantFromMs, latestInstant } from '../../../src/domain/records/instant.ts';
import type { JsonObject } from '../../../src/domain/records/json.ts';
import { withoutAuthor } from '../../../src/domain/records/post.ts';
import { Folder } from './support/folder.ts';
import { plain, post, user } from './support/records.ts';

const instants = fc
  .integer({ min: Date.parse('0000-01-01T00:00:00Z'), max: Date.parse(latestInstant) })
  .map(instantFromMs);
const customFields = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue(), { maxKeys: 4 });
/** Normalizes values to JSON, which has no -0. */
const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));

describe('posts that the SQLite store keeps after deleting their author', () => {
  const folder = new Folder();

  it('are exactly what withoutAuthor returns, for any numbers and strings', async () => {
    const store = folder.open();
    let ids = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            own: customFields,
            updatedAt: fc.oneof(instants, fc.constant(latestInstant)),
          }),
        ),
        fc.oneof(instants, fc.constant(latestInstant)),
        async (made, at) => {
          const author = `author ${++ids}`;
          await store.users.create(user(author));
          const posts = made.map(({ own, updatedAt }) => ({
            ...asJson(own),
            ...post(`${++ids}`, { updatedAt, authorId: author }),
          }));
          await Promise.all(posts.map((one) => store.posts.create(one)));
          expect(await store.users.delete(author, 'keep', at)).to.deep.equal({
            posts: posts.length,
          });
          for (const one of posts) {
            const found = plain(await store.posts.get(one.id));
            expect(found).to.deep.equal({ record: withoutAuthor(one, at), version: 2 });
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
