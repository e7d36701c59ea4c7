import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { checkFidelity } from './fidelity.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('records in documents of MongoDB', () => {
  const database = useDatabase();

  it('come back as they were, whatever their keys and values are', async function () {
    this.timeout(60_000);
    await checkFidelity(database.open(), database.clear, 1000);
  });
});
