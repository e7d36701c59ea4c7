import { describeOnMongodb } from '../../support/mongod/shared.ts';
import { checkFidelity } from './fidelity.ts';
import { useDatabase } from './store-on.ts';

await describeOnMongodb('100,000 random records in documents of MongoDB', () => {
  const database = useDatabase();

  it('come back as they were', async () => {
    await checkFidelity(database.open(), database.clear, 100_000);
  });
});
