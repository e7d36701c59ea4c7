import { expect } from 'chai';
import fc from 'fast-check';
import { isRostrumError } from '../../../../src/domain/errors.ts';
import type { Entity } from '../../../../src/domain/record.ts';
import { RecordModel } from '../../../../src/domain/record-model.ts';
import { postRules, userRules } from '../../../../src/domain/rules.ts';
import { hasVisible } from '../../../../src/domain/text.ts';
import { DescriptionUnderTest, documentOf } from '../support/description.ts';

const at = '2026-01-01T00:00:00.000Z';

// Strings near the length limits, with white space around them, and invalid values.
const space = fc.constantFrom('', ' ', '\n\t', '\u00a0', '\ufeff', '\u2029', '\u3000');
const inner = fc.constantFrom('', 'a', 'a b', 'a\nb', '😀', '\u200b', '\u180e', '\u0085', '\u007f');
const text = fc
  .tuple(space, inner, fc.constantFrom(0, 1, 198, 199, 200, 201, 299, 300, 301), inner, space)
  .map(([before, first, count, last, after]) => {
    return before + first + '😀'.repeat(count) + last + after;
  });
/** Without strings that have only invisible characters: a schema cannot express that rule. */
const line = text.filter((it) => it.trim() === '' || hasVisible(it));
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

describe('the OpenAPI description', () => {
  it('has the URL of the API as clients see it', () => {
    const publicUrl = 'https://example.com/backend/';
    for (const [options, url] of [
      [{}, '/api/v1'],
      [{ publicUrl }, 'https://example.com/backend/api/v1'],
      [{ prefix: '/' }, '/'],
      [{ prefix: '/', publicUrl }, 'https://example.com/backend'],
    ] as const) {
      expect(documentOf(options).servers).to.deep.equal([{ url }]);
    }
  });
});

describe('the schemas of the OpenAPI description', () => {
  const description = new DescriptionUnderTest(documentOf());

  function takes(component: string, value: unknown, of = description): boolean {
    return of.complaintsOf(component, value) === 'No errors';
  }

  for (const { one, rules, made, fields } of [
    { one: 'User', rules: userRules, made: { name: 'Ann' }, fields: { name: line, email } },
    {
      one: 'Post',
      rules: postRules,
      made: { title: 'A' },
      fields: { title: line, body, authorId: text },
    },
  ]) {
    const known = Object.entries(fields).map(([name, value]) => [
      name,
      fc.oneof({ weight: 8, arbitrary: value }, nothing, odd),
    ]);
    const record = fc.record({ ...Object.fromEntries(known), own: fc.oneof(nothing, odd, text) });
    const json = record.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

    it(`accept the same ${one} inputs and patches as the rules`, () => {
      const rulesOf = new RecordModel<Entity>(rules);
      const current = rulesOf.create(made, 'id', at);
      fc.assert(
        fc.property(json, (value) => {
          const isRecord = isAllowed(() => rulesOf.create(value, 'id', at));
          expect(takes(`${one}Input`, value)).to.equal(isRecord);
          const isChange = isAllowed(() => rulesOf.patch(current, value, at));
          expect(takes(`${one}Patch`, value)).to.equal(isChange);
        }),
        { numRuns: 1000 },
      );
    });
  }

  it('describe patches of configured custom fields', () => {
    const home = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const users = {
      properties: { born: { type: 'integer' }, died: { type: 'integer' }, home },
      required: ['born'],
      additionalProperties: false,
    };
    const closed = new DescriptionUnderTest(documentOf({ customFields: { users } }));
    for (const [patch, isTaken] of [
      [{}, true],
      [{ born: 1815 }, true],
      [{ born: 'then' }, false],
      [{ born: null }, false], // Required.
      [{ died: null }, true],
      [{ home: { street: 'A' } }, true], // Merged with the rest of the home.
      [{ home: { city: 5 } }, false],
      [{ home: { city: null } }, false], // Required in a home.
      [{ home: null }, true],
      [{ home: 'London' }, false],
      [{ bron: 1815 }, false],
    ] as const) {
      expect(takes('UserPatch', patch, closed), JSON.stringify(patch)).to.equal(isTaken);
    }
  });

  it('avoid forms from which TypeScript generators make bad types', () => {
    const users = { properties: { home: { properties: { a: {} } } } };
    const { schemas } = documentOf({ customFields: { users } }).components;
    for (const [name, schema] of Object.entries(schemas)) {
      const text = JSON.stringify(schema);
      // Generators make a field with a default mandatory, in requests too.
      expect(text, name).to.not.include('"default":');
      // A reference in propertyNames becomes a mapped type, which loses the known fields.
      expect(text, name).to.not.include('"propertyNames":{"$ref"');
      // TypeScript only allows a type alias to refer to itself inside an object type.
      expect(aliasesOf(schema), name).to.not.include(name);
      for (const alias of aliasesOf(schema)) {
        expect(aliasesOf(schemas[alias] ?? {}), alias).to.not.include(name);
      }
    }
  });
});

/** Returns true if no rule rejects it. */
function isAllowed(decide: () => unknown): boolean {
  try {
    decide();
    return true;
  } catch (error) {
    if (isRostrumError(error, 'invalid-record')) return false;
    throw error;
  }
}

/**
 * Returns the components that a schema refers to directly, in an array or in a union, but not within an object.
 */
function aliasesOf(schema: object): readonly string[] {
  const { $ref, items, anyOf, oneOf, allOf } = schema as Readonly<Record<string, unknown>>;
  const parts = [items, anyOf, oneOf, allOf].flat().filter((one) => one !== undefined);
  const name = typeof $ref === 'string' ? [$ref.replace('#/components/schemas/', '')] : [];
  return [...name, ...parts.flatMap((part) => aliasesOf(part as object))];
}
