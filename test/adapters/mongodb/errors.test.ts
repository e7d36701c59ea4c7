import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { translate } from '../../../src/adapters/mongodb/connection/errors.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';

describe('Errors of a MongoDB server', () => {
  const passing = {
    CursorNotFound: 43,
    QueryPlanKilled: 175,
    PrimarySteppedDown: 189,
    CursorKilled: 237,
    Interrupted: 11_601,
    OutOfDiskSpace: 14_031,
  };
  for (const [name, code] of Object.entries(passing)) {
    it(`${name} is store-unavailable, with the outcome of the step`, () => {
      for (const outcome of ['none', 'unknown'] as const) {
        const error = translate(new MongoServerError({ code }), outcome);
        expect(isRostrumError(error, 'store-unavailable') && error.details).to.deep.equal({
          outcome,
        });
      }
    });
  }

  it('a mistake of ours stays what it is', () => {
    const badValue = new MongoServerError({ code: 2 });
    expect(translate(badValue, 'none')).to.equal(badValue);
  });
});
