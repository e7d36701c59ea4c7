import { expect } from 'chai';
import { RostrumError } from '../../src/index.ts';

describe('RostrumError', () => {
  it('rejects an unknown code', () => {
    for (const code of ['user-not-fuond', '', 'toString', undefined]) {
      const make = () => new RostrumError(code as 'overloaded', {});
      expect(make, String(code)).to.throw(TypeError, /^"[^"]*" is not an error code of Rostrum\.$/);
    }
  });
});
