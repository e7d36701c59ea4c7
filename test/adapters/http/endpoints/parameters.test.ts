import { expect } from 'chai';
import fc from 'fast-check';
import { endpointsFor } from '../../../../src/adapters/http/endpoints/index.ts';
import { DescriptionUnderTest, documentOf } from '../support/description.ts';

const endpoints = endpointsFor({});

const at = '2026-01-01T00:00:00.000Z';

const value = fc.oneof(
  fc.constantFrom('0', '1', '999', '1000', '1001', '9999999999', '01', '1.5', '-1', ''),
  fc.constantFrom('name', '-name', 'email', 'title', '-createdAt', 'createdAt', '--name'),
  fc.constantFrom('exact', 'Exact', 'delete', 'keep', 'refuse', ' exact'),
  fc.constantFrom(at, '2026-01-01T00:00:00+01:00', '2026-01-01', 'now', `${at} `),
  fc.constantFrom('*', '"1", W/"2"', ',"1",,"2" ,', '"1" "2"', 'W/1', 'w/"1"', '*, "1"', '"é"'),
  fc.constantFrom('"a"', '"', '""', '"a\\"b"', '"a\\b"', 'a"b', '"a b"', 'a b', 'é'),
  fc.nat(600).map((length) => 'k'.repeat(length)),
  fc.nat(600).map((length) => `"${'\\"'.repeat(length / 2)}"`),
  fc.string({ unit: 'binary-ascii', maxLength: 4 }),
);

describe('the parameters of the endpoints', () => {
  const description = new DescriptionUnderTest(documentOf());
  const isValid = (schema: object, given: unknown) =>
    description.complaints(schema, given) === 'No errors';
  const parameters = endpoints.flatMap(({ query = [], headers = [] }) => [...query, ...headers]);
  for (const { name, schema, example, check } of new Set(parameters)) {
    it(`${name}: the example is valid`, () => {
      expect(isValid(schema, example)).to.equal(true);
      expect(check?.(String(example))).to.equal(undefined);
    });
    if (check === undefined) continue;
    it(`${name}: the schema and the check accept the same values`, () => {
      fc.assert(
        fc.property(value, (text) => {
          const isNumber = schema.type === 'integer' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
          const valid = isValid(schema, isNumber ? Number(text) : text);
          expect(check(text) === undefined, `${text} ${check(text)}`).to.equal(valid);
        }),
        { numRuns: 300 },
      );
    });
  }
});
