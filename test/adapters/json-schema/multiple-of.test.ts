import { expect } from 'chai';
import fc from 'fast-check';
import { isMultipleOf } from '../../../src/adapters/json-schema/multiple-of.ts';

describe('isMultipleOf', () => {
  // From the JSON Schema test suite, with its optional cases, and extreme doubles.
  const cases: [divisor: number, multiples: readonly number[], others: readonly number[]][] = [
    [2, [10, 0, -4], [7, 0.5]],
    [1.5, [0, 4.5, -4.5], [35]],
    [0.0001, [0.0075], [0.00751]],
    [0.5, [1e308], [0.75]],
    [0.123456789, [0.246913578], [1e308]],
    [1e-8, [12391239123], [1e-9]],
    [1e300, [2e300], [1e299, 1]],
    [5e-324, [1.7976931348623157e308], []],
    [2 ** 53, [2 ** 53, 1e53, 1e300], [1e52]],
  ];
  for (const [divisor, multiples, others] of cases) {
    it(`recognizes the multiples of ${divisor}`, () => {
      for (const value of multiples)
        expect(isMultipleOf(value, divisor), `${value}`).to.equal(true);
      for (const value of others) expect(isMultipleOf(value, divisor), `${value}`).to.equal(false);
    });
  }

  it('agrees with integer arithmetic on the same digits', () => {
    const places = fc.integer({ min: 0, max: 6 });
    const property = fc.property(
      ...([
        fc.integer({ min: -1e6, max: 1e6 }),
        places,
        fc.integer({ min: 1, max: 500 }),
        places,
      ] as const),
      (value, valuePlaces, divisor, divisorPlaces) => {
        const scaled = (digits: number, shift: number) => BigInt(digits) * 10n ** BigInt(6 - shift);
        const isMultiple = scaled(value, valuePlaces) % scaled(divisor, divisorPlaces) === 0n;
        const [one, other] = [
          Number(`${value}e-${valuePlaces}`),
          Number(`${divisor}e-${divisorPlaces}`),
        ];
        expect(isMultipleOf(one, other)).to.equal(isMultiple);
      },
    );
    fc.assert(property);
  });
});
