import { expect } from 'chai';
import { isRostrumError, RostrumError } from '../../../src/domain/errors.ts';
import { post, receipt, times, user } from '../../../src/testing/fixtures.ts';
import { describeOn, topologies } from '../../support/mongod/shared.ts';
import { useDatabase } from './store-on.ts';

for (const topology of topologies) {
  await describeOn(topology, 'Two stores on one database', () => {
    const database = useDatabase(topology);

    it('50 racing creations with one email: one wins', async () => {
      const stores = [database.open(), database.open()];
      const results = await Promise.allSettled(
        times(50, (n) => stores[n % 2]?.users.create(user({ email: 'Ada@example.org' }))),
      );
      const lost = results.filter(({ status }) => status === 'rejected');
      expect(lost).to.have.lengthOf(49);
      for (const one of lost as PromiseRejectedResult[]) {
        expect(isRostrumError(one.reason, 'email-taken'), String(one.reason)).to.equal(true);
      }
    });

    it('50 changes of one version: one wins', async () => {
      const stores = [database.open(), database.open()];
      const record = post();
      await stores[0]?.posts.create(record);
      const results = await Promise.allSettled(
        times(50, (n) =>
          stores[n % 2]?.posts.update(record.id, (current) => {
            const { version } = current;
            if (version !== 1) throw new RostrumError('version-mismatch', { version });
            return { ...current.record, n };
          }),
        ),
      );
      const won = results.filter(({ status }) => status === 'fulfilled');
      expect(won).to.have.lengthOf(1);
      expect((await stores[1]?.posts.get(record.id))?.version).to.equal(2);
    });

    it('20 creations under one receipt: one record, for all of them', async () => {
      const stores = [database.open(), database.open()];
      const author = user();
      await stores[0]?.users.create(author);
      const once = receipt();
      const results = await Promise.all(
        times(20, (n) => stores[n % 2]?.posts.create(post({ authorId: author.id }), once)),
      );
      expect(new Set(results.map((result) => result?.record.id))).to.have.lengthOf(1);
      expect(results.filter((result) => result?.replayed === false)).to.have.lengthOf(1);
    });
  });
}
