import { expect } from 'chai';
import fc from 'fast-check';
import { openApiDocument } from '../../../../src/adapters/http/openapi/document.ts';
import type { Entity } from '../../../../src/domain/record.ts';
import { RecordModel } from '../../../../src/domain/record-model.ts';
import { userRules } from '../../../../src/domain/rules.ts';
import { isAllowed } from '../support/allowed.ts';
import { DescriptionUnderTest, type OpenApi } from '../support/description.ts';

const at = '2026-01-01T00:00:00.000Z';

describe('the schemas of the description', () => {
  const description = new DescriptionUnderTest(documentOf());
  const model = new RecordModel<Entity>(userRules);

  function documentOf(users?: object): OpenApi {
    const customFields = users && { users: JSON.parse(JSON.stringify(users)) };
    const options = { ready: async () => {}, customFields };
    return JSON.parse(JSON.stringify(openApiDocument({}, options)));
  }

  function takes(component: string, value: unknown, of = description): boolean {
    const reference = { $ref: `#/components/schemas/${component}` };
    return of.complaints(reference, value) === 'No errors';
  }

  const key = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('a', 'b', '😀'.repeat(64)) },
    fc.constantFrom('', '😀'.repeat(65), '__proto__', 'a\0'),
  );
  const number = fc.constantFrom(
    ...[0, -0.5, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53, -(2 ** 53), 2 ** 53 + 2, 1e300],
  );
  const { value: own } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(true, '', 'a', 'a\0b'),
      number,
      fc.array(tie('value'), { maxLength: 2 }),
      tie('object'),
    ),
    object: fc
      .array(fc.tuple(key, tie('value')), { maxLength: 2 })
      .map((members) => Object.fromEntries(members)),
  }));

  it('take custom fields as the rules do, in whole records and in changes', () => {
    const outcomes = new Set<boolean>();
    fc.assert(
      fc.property(key, own, (name, value) => {
        const input = JSON.parse(`{"name":"Ada",${JSON.stringify(name)}:${JSON.stringify(value)}}`);
        const allowed = isAllowed(() => model.make(input, 'id', at));
        outcomes.add(allowed);
        expect(takes('UserInput', input)).to.equal(allowed);
        const current = model.make({ name: 'Ann' }, 'id', at);
        expect(isAllowed(() => model.patch(current, input, at))).to.equal(allowed);
        expect(takes('UserPatch', input)).to.equal(allowed);
      }),
      { numRuns: 500 },
    );
    expect([...outcomes]).to.have.members([true, false]);
  });

  it('describe a change of the custom fields of a deployment', () => {
    const closed = new DescriptionUnderTest(
      documentOf({
        properties: {
          born: { type: 'integer' },
          died: { type: 'integer' },
          home: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
        required: ['born'],
        additionalProperties: false,
      }),
    );
    for (const [patch, isTaken] of [
      [{}, true],
      [{ born: 1815 }, true],
      [{ born: 'then' }, false],
      [{ born: null }, false], // It is required.
      [{ died: null }, true],
      [{ home: { street: 'A' } }, true], // A part, which is merged.
      [{ home: { city: 5 } }, false],
      [{ home: { city: null } }, false], // It is required where there is a home.
      [{ home: null }, true],
      [{ home: 'London' }, false],
      [{ bron: 1815 }, false],
    ] as const) {
      expect(takes('UserPatch', patch, closed), JSON.stringify(patch)).to.equal(isTaken);
    }
  });

  it('are of a form that generators of TypeScript make good types of', () => {
    const { schemas } = documentOf({ properties: { home: { properties: { a: {} } } } }).components;
    for (const [name, schema] of Object.entries(schemas)) {
      const text = JSON.stringify(schema);
      // A field with a default is taken for one that is always there, in what is sent as well.
      expect(text, name).to.not.include('"default":');
      // A reference for the names makes a mapped type, which has no known fields.
      expect(text, name).to.not.include('"propertyNames":{"$ref"');
      // A type may refer to itself by a member of an object, and in no other way.
      expect(aliasesOf(schema), name).to.not.include(name);
      for (const alias of aliasesOf(schema)) {
        expect(aliasesOf(schemas[alias] ?? {}), alias).to.not.include(name);
      }
    }
  });
});

/** The components that a schema is, or has in an array, without an object between. */
function aliasesOf(schema: object): readonly string[] {
  const { $ref, items, anyOf, oneOf, allOf } = schema as Readonly<Record<string, unknown>>;
  const parts = [items, anyOf, oneOf, allOf].flat().filter((one) => one !== undefined);
  const name = typeof $ref === 'string' ? [$ref.replace('#/components/schemas/', '')] : [];
  return [...name, ...parts.flatMap((part) => aliasesOf(part as object))];
}
