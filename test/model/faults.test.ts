import { expect } from 'chai';
import { modelFaults, subjectOf } from './faults.ts';
import { runModel } from './run-model.ts';

const extent = { runs: 150, commands: 100, seed: 1 };

/** The first disagreement, if there is one; not made any shorter. */
async function disagreement(fault: Parameters<typeof subjectOf>[0]): Promise<string | undefined> {
  return runModel(subjectOf(fault), { ...extent, shrink: false }).then(
    () => undefined,
    (error: Error) => String(error.cause),
  );
}

describe('the model finds a planted fault', function () {
  this.timeout(30_000);

  it('none where none is planted', async () => {
    expect(await disagreement({})).to.equal(undefined);
  });

  for (const [name, fault] of Object.entries(modelFaults)) {
    it(name, async () => {
      expect(await disagreement(fault)).to.match(/AssertionError/);
    });
  }
});
