import { expect } from 'chai';
import fc from 'fast-check';
import { isRostrumError } from '../../../../src/domain/errors.ts';
import { postRules, userRules } from '../../../../src/domain/fields/rules.ts';
import type { Entity } from '../../../../src/domain/records/record.ts';
import { RecordModel } from '../../../../src/domain/records/record-model.ts';
import { hasVisible } from '../../../../src/domain/records/text.ts';
import { DescriptionUnderTest, documentOf } from '../support/description.ts';

const at = '2026-01-01T00:00:00.000Z';

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;

// Strings near the length limits, and invalid values.
const inner = fc.constantFrom('', 'a', 'a b', 'a\nb', '😀', '\u200b', '\u180e', '\u0085', '\u007f');
const text = fc
  .tuple(inner, fc.constantFrom(0, 1, 198, 199, 200, 201, 299, 300, 301), inner)
  .map(([first, count, last]) => first + '😀'.repeat(count) + last);
/** Without strings that have only invisible characters: only words express that rule. */
const line = text.filter((it) => it === '' || hasVisible(it));
const email = fc.oneof(
  fc.constantFrom('a@x.org', 'é@x.org', '@x', 'a@', 'a', '', 'a@x.', 'a b@x.org', 'a@-x.org'),
  fc.integer({ min: 240, max: 260 }).map((length) => `${'a'.repeat(length - 6)}@x.org`),
);
const bodies = [499_999, 500_000, 500_001].map((length) => 'x'.repeat(length));
const body = fc.oneof({ weight: 9, arbitrary: text }, fc.constantFrom(...bodies));
const nothing = fc.constantFrom(null, undefined);
const odd = fc.constantFrom(5, true, [], {});

// Values of declared fields, and others.
const emojis = (...lengths: readonly number[]) =>
  fc.constantFrom(...lengths.map((length) => '😀'.repeat(length)));
const declaredFields = {
  posts: { slug: 'text', views: 'number', hot: 'boolean', tags: 'text[]' },
} as const;
const declaredValues = {
  slug: fc.oneof(text, emojis(999, 1000, 1001)),
  views: fc.oneof(fc.integer(), fc.constantFrom(0.1, -1e-300, '12', '')),
  hot: fc.constantFrom(true, false, 'true', 0, 1),
  tags: fc.oneof(
    fc.array(
      fc.oneof(
        text.filter((it) => it.length < 100),
        emojis(199, 200, 201),
        odd,
      ),
    ),
    fc.constantFrom(64, 65).map((length) => Array.from({ length }, String)),
    fc.constant('a,b'),
  ),
};

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

  it("says that the caller's own user needs credentials", () => {
    const described = (options: Parameters<typeof documentOf>[0], path: string) =>
      documentOf(options).paths[path]?.get?.description;
    const authenticate = () => ({ name: 'a', subject: null, scopes: [] });
    expect(described({}, '/users/me')).to.match(/ every request gets 403\.$/);
    expect(described({}, '/users/{id}')).not.to.contain('403');
    expect(described({ authenticate }, '/users/me')).not.to.contain('403');
  });
});

describe('the schemas of the OpenAPI description', () => {
  const description = new DescriptionUnderTest(documentOf({}, declaredFields));

  function takes(component: string, value: unknown, of = description): boolean {
    return of.complaintsOf(component, value) === 'No errors';
  }

  for (const { one, rules, made, fields, declared } of [
    { one: 'User', rules: userRules, made: { name: 'Ann' }, fields: { name: line, email } },
    {
      one: 'Post',
      rules: postRules,
      made: { title: 'A' },
      fields: { title: line, body, authorId: text, ...declaredValues },
      declared: declaredFields.posts,
    },
  ]) {
    const known = Object.entries(fields).map(([name, value]) => [
      name,
      fc.oneof({ weight: 8, arbitrary: value }, nothing, odd),
    ]);
    const record = fc.record({ ...Object.fromEntries(known), own: fc.oneof(nothing, odd, text) });
    const json = record.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

    it(`accept the same ${one} inputs and patches as the rules`, () => {
      const rulesOf = new RecordModel<Entity>(rules, undefined, declared);
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

  it('describe declared fields of records, and filters on them', () => {
    const { paths, components } = documentOf({}, declaredFields);
    for (const [name, type] of [
      ['slug', 'string'],
      ['views', 'number'],
      ['hot', 'boolean'],
      ['tags', 'array'],
    ] as const) {
      for (const component of ['Post', 'ListedPost', 'PostInput', 'PostPatch']) {
        const { properties } = components.schemas[component] as { properties: Properties };
        expect(properties[name]?.type, component).to.deep.equal([type, 'null']);
      }
      const parameter = paths['/posts']?.get?.parameters.find((it) => it.name === name);
      expect(parameter?.schema).to.include({ type });
    }
    const user = components.schemas.User as { properties: Properties };
    expect(user.properties).not.to.have.property('slug');
  });

  it('describe a field that is declared and in the schema by both', () => {
    const posts = {
      properties: {
        slug: { type: ['string', 'integer', 'null'], maxLength: 5 },
        views: { type: 'integer', minimum: 0 },
        tags: { items: { maxLength: 3 }, maxItems: 100 },
        lang: { $ref: '#/$defs/lang' },
        bio: { type: 'string', maxLength: 9999 },
      },
      additionalProperties: false,
      $defs: { lang: { enum: ['en', null] } },
    };
    const declared = { ...declaredFields.posts, lang: 'text', bio: 'text' } as const;
    const both = new DescriptionUnderTest(
      documentOf({ customFields: { posts } }, { posts: declared }),
    );
    for (const [field, isTaken] of [
      [{ slug: 'a' }, true],
      [{ slug: null }, true],
      [{ slug: 1 }, false],
      [{ slug: 'abcdef' }, false],
      [{ views: 1 }, true],
      [{ views: 1.5 }, false],
      [{ views: null }, false],
      [{ tags: ['a'] }, true],
      [{ tags: ['abcd'] }, false],
      [{ tags: [5] }, false],
      [{ tags: Array.from({ length: 65 }, () => 'a') }, false],
      [{ lang: 'en' }, true],
      [{ lang: null }, true],
      [{ lang: 'eo' }, false],
      [{ bio: 'x'.repeat(1000) }, true],
      [{ bio: 'x'.repeat(1001) }, false],
      [{ hot: true }, false], // Not in the schema, which is closed.
    ] as const) {
      const input = { title: 'A', ...field };
      expect(takes('PostInput', input, both), JSON.stringify(field)).to.equal(isTaken);
    }
    expect(takes('PostPatch', { views: null }, both)).to.equal(true);
  });

  it('refer to whole components, which every generator can follow', () => {
    const users = {
      properties: { a: { $ref: '#/$defs/a~1b' }, c: { $ref: '#/properties/a' }, d: { $ref: '#' } },
      $defs: { 'a/b': { type: 'string' } },
    };
    const { schemas } = documentOf({ customFields: { users } }).components;
    const references = JSON.stringify(schemas).match(/"\$ref":"[^"]*"/g) ?? [];
    expect(references.length).to.be.greaterThan(5);
    for (const one of references) {
      const [, name = ''] = /^"\$ref":"#\/components\/schemas\/([\w.-]+)"$/.exec(one) ?? [];
      expect(schemas, one).to.have.property(name);
    }
  });

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

describe('the security of an operation', () => {
  it('lets requests without credentials read what is public, but not a user of their own', () => {
    const { paths } = documentOf({
      authenticate: () => undefined,
      anonymous: ['posts:read', 'users:read:public'],
    });
    const open = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { security }]) =>
        security?.some((one) => Object.keys(one).length === 0) ? `${method} ${path}` : [],
      ),
    );
    expect(open).to.deep.equal(['get /users', 'get /users/{id}', 'get /posts', 'get /posts/{id}']);
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
