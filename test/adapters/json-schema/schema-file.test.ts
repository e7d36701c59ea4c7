import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  readSchemaFile,
  readSchemaFiles,
  SchemaFileError,
} from '../../../src/adapters/json-schema/index.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError } from '../../../src/index.ts';
import { errorOf } from '../../support/error-of.ts';

describe('a JSON Schema of custom fields', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-schema-'));
  const path = join(folder, 'posts.json');
  after(() => rmSync(folder, { recursive: true }));

  async function postsOf(schema: object) {
    writeFileSync(path, JSON.stringify(schema));
    const posts = await readSchemaFile(path, 'posts');
    expect(posts.jsonSchema).to.deep.equal(schema);
    return createRostrum(createMemoryStore(), { customFields: { posts } }).posts;
  }

  /** Returns the errors of a creation as pointers and messages. */
  async function issuesOf(schema: object, own: object): Promise<string[]> {
    const posts = await postsOf(schema);
    const error: unknown = await posts.create({ title: 'T', ...own }).catch((reason) => reason);
    if (!isRostrumError(error, 'invalid-record')) throw error;
    for (const { code, message } of error.details.issues) {
      expect(code).to.equal(message === 'This field is required.' ? 'required' : 'invalid');
    }
    return error.details.issues.map(({ pointer, message }) => `${pointer} ${message}`);
  }

  it('accepts valid fields without changing them', async () => {
    const slug = { type: 'string', default: 'none', format: 'uuid', pattern: '^[a-z-]+$' };
    const posts = await postsOf({ type: 'object', properties: { slug } });
    const input = { title: 'T', slug: 'no-email', other: [1] };
    const { record } = await posts.create(input);
    expect(record).to.deep.include({ slug: 'no-email', other: [1] });
    expect((await posts.create({ title: 'T' })).record).not.to.have.property('slug');
  });

  it('rejects a public field that a closed user schema does not have', async () => {
    const read = async (schema: object, ...publicUserFields: string[]) => {
      writeFileSync(path, JSON.stringify(schema));
      return errorOf(readSchemaFiles({ userSchema: path, publicUserFields }));
    };
    const closed = { properties: { city: {} }, additionalProperties: false };
    expect(await read(closed, 'email', 'city')).to.equal(undefined);
    expect(String(await read(closed, 'city', 'ctiy'))).to.equal(
      `SchemaFileError: The schema file ${path} of --user-schema has no "ctiy": a public field must be in it.`,
    );
    // These schemas allow other fields too.
    const named = { ...closed, patternProperties: { '^c': {} } };
    for (const open of [{}, { properties: { city: {} } }, named]) {
      expect(await read(open, 'ctiy'), JSON.stringify(open)).to.equal(undefined);
    }
  });

  it('reports every error with its pointer in plain words', async () => {
    const properties = {
      slug: { type: 'string', minLength: 2 },
      state: { enum: ['draft', 'live'] },
      'a/b~': { items: { type: ['integer', 'null'] } },
      fixed: { const: 1 },
      inner: { properties: { x: true }, additionalProperties: false, required: ['x'] },
    };
    const schema = { properties, required: ['lang'], unevaluatedProperties: false };
    const own = { slug: 'a', state: 'x', 'a/b~': [1, 'x'], fixed: 2, inner: { y: 1 }, more: 1 };
    expect(await issuesOf(schema, own)).to.have.members([
      '/slug Must not have fewer than 2 characters.',
      '/state Must be one of ["draft","live"].',
      '/a~1b~0/1 Must be of the type integer or null.',
      '/fixed Must be 1.',
      '/inner/x This field is required.',
      '/inner/y There is no such field in the schema.',
      '/lang This field is required.',
      '/more There is no such field in the schema.',
    ]);
  });

  it('checks multipleOf with decimal fractions', async () => {
    const schema = { properties: { price: { multipleOf: 0.01 } } };
    const posts = await postsOf(schema);
    for (const price of [19.99, 4.35, 1.13, 8.41, -0.07, 0, 123_456_789.01]) {
      const input: object = { title: 'T', price };
      expect((await posts.create(input as { title: string })).record).to.include({ price });
    }
    for (const price of [19.999, 0.001, 1e-7]) {
      const said = ['/price Must be multiple of 0.01.'];
      expect(await issuesOf(schema, { price })).to.deep.equal(said);
    }
  });

  it('supports references to anchors', async () => {
    const $defs = { any: { $anchor: 'slug', type: 'string' } };
    const schema = { $defs, properties: { slug: { $ref: '#slug' } } };
    expect(await issuesOf(schema, { slug: 1 })).to.deep.equal([
      '/slug Must be of the type string.',
    ]);
  });

  it('checks dates, times, email addresses and URIs', async () => {
    const formats = { at: 'date-time', day: 'date', mail: 'email', site: 'uri' };
    const properties = Object.fromEntries(
      Object.entries(formats).map(([name, format]) => [name, { format }]),
    );
    const posts = await postsOf({ properties });
    const good = { at: '2026-11-24T10:00:00+01:00', day: '2028-02-29', mail: 'a@b.org' };
    await posts.create({ title: 'T', ...{ ...good, site: 'https://a.b/c' } });
    const bad = { at: '2026-11-24', day: '2027-02-29', mail: 'a', site: 'a b' };
    expect(await issuesOf({ properties }, bad)).to.have.lengthOf(4);
  });

  it('validates fields named like inherited properties', async () => {
    for (const name of ['constructor', 'toString', 'valueOf', '__defineGetter__']) {
      expect(await issuesOf({ required: [name] }, {})).to.deep.equal([
        `/${name} This field is required.`,
      ]);
      await (await postsOf({ properties: { [name]: { type: 'string' } } })).create({ title: 'T' });
    }
  });

  it('validates in linear time', async () => {
    const schema = {
      properties: { a: { uniqueItems: true }, b: { pattern: '^(\\p{L}+)+$' } },
      patternProperties: { '^(c+)+$': { type: 'string' } },
    };
    const a = Array.from({ length: 12_000 }, (_, n) => ({ x: n, y: { z: n } }));
    const posts = await postsOf(schema);
    await posts.create({ title: 'T', ...{ a, b: 'é'.repeat(100) } });
    const bad = { a: [...a, { y: { z: 1 }, x: 1 }], b: 'x', [`${'c'.repeat(60)}!`]: 1 };
    expect(await issuesOf(schema, bad)).to.deep.equal(['/a Must not have duplicate items.']);
    expect(await issuesOf(schema, { b: `${'a'.repeat(100)}!` })).to.have.lengthOf(1);
  });

  it('reports only one error for a large value with many', async () => {
    const schema = { properties: { tags: { items: { type: 'string' } } } };
    const tags = Array.from({ length: 40_000 }, (_, n) => n);
    expect(await issuesOf(schema, { tags })).to.deep.equal(['/tags/0 Must be of the type string.']);
    expect(await issuesOf(schema, { tags: tags.slice(0, 3) })).to.have.lengthOf(3);
  });

  const refused: Readonly<Record<string, [text: string | undefined, reason: RegExp]>> = {
    'a missing file': [undefined, /is not there\.$/],
    'a file that is not JSON': ['{', /is not JSON\.$/],
    'JSON that is not an object': ['true', /does not have a JSON object\.$/],
    'an unknown keyword': ['{"propertys": {}}', /unknown keyword: "propertys"\.$/],
    'an OpenAPI keyword': [
      '{"properties": {"a": {"type": "string", "nullable": true}}}',
      /unknown keyword: "nullable"\.$/,
    ],
    'an invalid keyword value': [
      '{"type": "text"}',
      /cannot be used .*: .* must be equal to one of/,
    ],
    'another draft': [
      '{"$schema": "http://json-schema.org/draft-07/schema#"}',
      /its \$schema is .*draft-07/,
    ],
    'a lookaround assertion': ['{"properties": {"a": {"pattern": "(?=a)"}}}', /cannot be used/],
    'an external reference': ['{"$ref": "https://example.com/x.json"}', /resolve reference/],
    'an asynchronous schema': ['{"$async": true}', /must be synchronous/],
    'a built-in field': ['{"properties": {"title": {}}}', /names "title": .* custom fields alone/],
    'a built-in field as required': ['{"required": ["authorId"]}', /names "authorId"/],
  };
  for (const [what, [text, reason]] of Object.entries(refused)) {
    it(`is rejected in one sentence: ${what}`, async () => {
      const file = join(folder, 'refused.json');
      rmSync(file, { force: true });
      if (text !== undefined) writeFileSync(file, text);
      const error: unknown = await readSchemaFile(file, 'posts').catch((caught) => caught);
      expect(error).to.be.instanceOf(SchemaFileError);
      const { message } = error as SchemaFileError;
      expect(message)
        .to.match(/^The schema file \S+ of --post-schema [^\n]*\.$/)
        .and.to.match(reason);
    });
  }
});
