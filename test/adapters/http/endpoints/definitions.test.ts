import { expect } from 'chai';
import fc from 'fast-check';
import { schemas } from '../../../../src/adapters/http/endpoints/schemas.ts';
import { endpoints } from '../../../../src/adapters/http/endpoints/table.ts';
import type { Entity } from '../../../../src/domain/record.ts';
import { RecordModel } from '../../../../src/domain/record-model.ts';
import { postRules, userRules } from '../../../../src/domain/rules.ts';
import { isAllowed } from '../support/allowed.ts';
import { complaints } from '../support/json-schema.ts';

const at = '2026-01-01T00:00:00.000Z';

describe('the definitions of the endpoints', () => {
  for (const endpoint of endpoints) {
    for (const { name, schema, example, check } of [...endpoint.query, ...endpoint.headers]) {
      it(`${endpoint.operation}, ${name}: the example is allowed`, () => {
        expect(complaints(schema, example)).to.deep.equal([]);
        expect(check?.(String(example))).to.equal(undefined);
      });
      if (check === undefined) continue;
      it(`${endpoint.operation}, ${name}: the schema and the check are one`, () => {
        const value = fc.oneof(
          fc.constantFrom('0', '1', '999', '1000', '1001', '9999999999', '01', '1.5', '-1', ''),
          fc.constantFrom('name', '-name', 'email', 'title', '-createdAt', 'createdAt', '--name'),
          fc.constantFrom('exact', 'Exact', 'delete', 'keep', 'refuse', ' exact'),
          fc.constantFrom(at, '2026-01-01T00:00:00+01:00', '2026-01-01', 'now', `${at} `),
          fc.constantFrom(
            '*',
            '"1", W/"2"',
            ',"1",,"2" ,',
            '"1" "2"',
            'W/1',
            'w/"1"',
            '*, "1"',
            '"é"',
          ),
          fc.constantFrom('"a"', '"', '""', '"a\\"b"', '"a\\b"', 'a"b', '"a b"', 'a b', 'é'),
          fc.nat(600).map((length) => 'k'.repeat(length)),
          fc.nat(600).map((length) => `"${'\\"'.repeat(length / 2)}"`),
          fc.string({ unit: 'binary-ascii', maxLength: 4 }),
        );
        fc.assert(
          fc.property(value, (text) => {
            const isNumber = schema.type === 'integer' && /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text);
            const valid = complaints(schema, isNumber ? Number(text) : text).length === 0;
            expect(check(text) === undefined, `${text} ${check(text)}`).to.equal(valid);
          }),
          { numRuns: 300 },
        );
      });
    }
  }
});

/** Texts about the limits of the rules, with white space around, and what no field may be. */
const space = fc.constantFrom('', ' ', '\n\t', '\u00a0', '\ufeff', '\u2029', '\u3000');
const inner = fc.constantFrom('', 'a', 'a b', 'a\nb', '😀', '\u200b', '\u180e', '\u0085');
const text = fc
  .tuple(space, inner, fc.constantFrom(0, 1, 198, 199, 200, 201, 299, 300, 301), inner, space)
  .map(([before, first, count, last, after]) => {
    return before + first + '😀'.repeat(count) + last + after;
  });
const email = fc.oneof(
  fc.constantFrom('a@x.org', 'é@x.org', '@x', 'a@', 'a', '', 'a@x.', 'a b@x.org', 'a@-x.org'),
  fc.integer({ min: 240, max: 260 }).map((length) => `${'a'.repeat(length - 6)}@x.org`),
);
const body = fc.oneof(
  text,
  fc.constantFrom(99_999, 100_000, 100_001).map((n) => '～'.repeat(n)),
);
const nothing = fc.constantFrom(null, undefined);
const odd = fc.constantFrom(5, true, [], {});

describe('the schemas of bodies', () => {
  for (const { one, model, input, patch, made, fields } of [
    {
      one: 'user',
      model: new RecordModel<Entity>(userRules),
      input: schemas.userInput,
      patch: schemas.userPatch,
      made: { name: 'Ann' },
      fields: { name: text, email },
    },
    {
      one: 'post',
      model: new RecordModel<Entity>(postRules),
      input: schemas.postInput,
      patch: schemas.postPatch,
      made: { title: 'A' },
      fields: { title: text, body, authorId: text },
    },
  ]) {
    const given = fc.record({
      ...Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          fc.oneof({ weight: 8, arbitrary: value }, nothing, odd),
        ]),
      ),
      own: fc.oneof(nothing, odd, text),
    });
    const json = given.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

    it(`accept a ${one} as the rules do`, () => {
      fc.assert(
        fc.property(json, (value) => {
          const valid = isAllowed(() => model.make(value, 'id', at));
          expect(complaints(input, value).length === 0).to.equal(valid);
        }),
        { numRuns: 1000 },
      );
    });

    it(`accept a change of a ${one} as the rules do`, () => {
      const current = model.make(made, 'id', at);
      fc.assert(
        fc.property(json, (value) => {
          const valid = isAllowed(() => model.patch(current, value, at));
          expect(complaints(patch, value).length === 0).to.equal(valid);
        }),
        { numRuns: 1000 },
      );
    });
  }
});
