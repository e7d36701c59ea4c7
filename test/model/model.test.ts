import { runModel } from './run-model.ts';
import { stores, ways } from './subjects.ts';

describe('random calls against a model of the contract', function () {
  this.timeout(60_000);

  for (const [store, open] of Object.entries(stores)) {
    for (const [way, attach] of Object.entries(ways)) {
      it(`${store}, by ${way}`, async () => {
        await runModel({ open, attach }, { runs: 10, commands: 60 });
      });
    }
  }
});
