import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { isRostrumError } from '../../src/domain/errors.ts';
import type { CustomFieldsSchema } from '../../src/domain/fields/custom-fields.ts';
import { postRules, userRules } from '../../src/domain/fields/rules.ts';
import { isPlainObject, jsonEqual } from '../../src/domain/records/json.ts';
import type { Post } from '../../src/domain/records/post.ts';
import { RecordModel } from '../../src/domain/records/record-model.ts';
import type { User } from '../../src/domain/records/user.ts';
import { customValue } from '../support/arbitraries.ts';

const userModel = (schema?: CustomFieldsSchema) => new RecordModel<User>(userRules, schema);
const users = userModel();
const posts = new RecordModel<Post>(postRules);
const t0 = '2026-11-21T09:30:00.000Z';
const t1 = '2026-11-21T09:31:00.000Z';

function user(input: unknown = { name: 'Ada' }): User {
  return users.create(input, 'u1', t0);
}

function post(input: unknown = { title: 'On engines' }): Post {
  return posts.create(input, 'p1', t0);
}

/** What is wrong, as `pointer code`, in no order. */
function issues(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    if (isRostrumError(error, 'invalid-record')) {
      return error.details.issues.map(({ pointer, code }) => `${pointer} ${code}`).sort();
    }
    throw error;
  }
  return [];
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

describe('creating a record', () => {
  it('fills in optional fields, the id and the times', () => {
    expect(user()).to.deep.equal({
      id: 'u1',
      name: 'Ada',
      email: null,
      createdAt: t0,
      updatedAt: t0,
    });
    expect(post()).to.deep.include({ title: 'On engines', body: '', authorId: null });
    expect(post({ title: 'x', body: null, authorId: null })).to.deep.equal(post({ title: 'x' }));
  });

  it('ignores an id and times from the client, of any type', () => {
    const sent = { name: 'Ada', id: 'mine', createdAt: 7, updatedAt: [null] };
    expect(user(sent)).to.deep.equal(user());
  });

  it('limits the depth of what it ignores too: a fingerprint covers the whole input', () => {
    for (const name of ['id', 'createdAt', 'updatedAt']) {
      expect(user({ name: 'Ada', [name]: nested(15) })).to.deep.equal(user());
      expect(issues(() => user({ name: 'Ada', [name]: nested(16) }))).to.deep.equal([
        `/${name}${'/a'.repeat(15)} too-deep`,
      ]);
    }
  });

  it('trims names and titles and counts code points after that', () => {
    expect(user({ name: 'Ada', email: ' a@example.com\u00a0' }).email).to.equal('a@example.com');
    expect(user({ name: ' \u00a0Ada\ufeff\n' }).name).to.equal('Ada');
    expect(user({ name: ` ${'😀'.repeat(200)} ` }).name).to.have.length(400);
    expect(issues(() => user({ name: '😀'.repeat(201) }))).to.deep.equal(['/name too-long']);
    expect(issues(() => user({ name: ' \t ' }))).to.deep.equal(['/name too-short']);
    expect(issues(() => post({ title: 'x'.repeat(301) }))).to.deep.equal(['/title too-long']);
  });

  it('requires a visible character in names and titles, and no control characters', () => {
    const invisible = [
      '\u200b'.repeat(3),
      '\u00ad',
      '\u0301',
      '\u3164',
      '\u2066\ufe0f',
      '\u2060 \u180e',
    ];
    for (const text of [...invisible, 'a\nb', 'a\tb', 'a\u0085', '\u007fa', 'a\u001b[31m']) {
      expect(
        issues(() => user({ name: text })),
        JSON.stringify(text),
      ).to.deep.equal(['/name invalid']);
      expect(
        issues(() => post({ title: text })),
        JSON.stringify(text),
      ).to.deep.equal(['/title invalid']);
    }
    for (const name of ['1', '漢', '😀', '👩\u200d🚀', 'e\u0301', 'نام\u200cه', '\ue000']) {
      expect(user({ name }).name).to.equal(name);
    }
    expect(post({ title: 'x', body: '\u200b\t\u001b' }).body).to.equal('\u200b\t\u001b');
  });

  it('keeps the body of a post as it is, up to 500,000 code points', () => {
    expect(post({ title: 'x', body: '  \n' }).body).to.equal('  \n');
    expect(post({ title: 'x', body: '～'.repeat(300_000) }).body).to.have.length(300_000);
    expect(issues(() => post({ title: 'x', body: 'x'.repeat(500_001) }))).to.deep.equal([
      '/body too-long',
    ]);
  });

  it('publishes a post now, at an instant, or not at all', () => {
    const published = (input: object) => post({ title: 'x', ...input }).publishedAt;
    expect(published({})).to.equal(t0);
    expect(published({ publishedAt: undefined })).to.equal(t0);
    expect(published({ publishedAt: null })).to.equal(null);
    const given = '2030-01-01T00:30:00.1239+01:00';
    expect(published({ publishedAt: given })).to.equal('2029-12-31T23:30:00.123Z');
    for (const publishedAt of [
      '',
      'now',
      '2030-01-01',
      '2030-02-30T00:00:00Z',
      '9999-12-31T23:59:59-10:00',
    ]) {
      expect(issues(() => post({ title: 'x', publishedAt }))).to.eql(['/publishedAt invalid']);
    }
    expect(issues(() => post({ title: 'x', publishedAt: 7 }))).to.eql(['/publishedAt type']);
  });

  it('reports all broken rules at once', () => {
    const input = { email: 'nobody', own: [Number.POSITIVE_INFINITY, { '': '\ud800' }], name: 7 };
    expect(issues(() => user(input))).to.deep.equal([
      '/email invalid',
      '/name type',
      '/own/0 number-range',
      '/own/1/ invalid',
      '/own/1/ key',
    ]);
    expect(issues(() => post({ authorId: 7 }))).to.deep.equal([
      '/authorId type',
      '/title required',
    ]);
    expect(issues(() => user({ name: null }))).to.deep.equal(['/name required']);
    expect(issues(() => user({ name: 'a\0' }))).to.deep.equal(['/name invalid']);
  });

  it('limits an email address to 254 bytes', () => {
    const email = (bytes: number) => `${'é'.repeat((bytes - 4) / 2)}@b.c`;
    expect(issues(() => user({ name: 'x', email: email(254) }))).to.deep.equal([]);
    expect(issues(() => user({ name: 'x', email: email(256) }))).to.deep.equal(['/email too-long']);
  });

  it('rejects values that are not objects', () => {
    for (const input of [null, undefined, 7, 'x', [], new Date(), new Map()]) {
      expect(issues(() => users.create(input, 'u1', t0))).to.deep.equal([' type']);
    }
  });

  it('lists at most 100 issues', () => {
    expect(issues(() => user({ own: Array(5000).fill('\0') }))).to.have.length(100);
  });
});

describe('custom fields', () => {
  it('are stored as sent, sharing no object with the input', () => {
    const own = { tags: ['a', { b: [null, true, -0.5] }], constructor: 'x', $set: { 'a.b': 1 } };
    const made = user({ name: 'Ada', ...own });
    expect(made).to.deep.include(own);
    own.tags.push('later');
    expect(made.tags).to.have.length(2);
  });

  it('are any I-JSON value', () => {
    fc.assert(
      fc.property(customValue, (own) => {
        expect(jsonEqual(user({ name: 'Ada', own }).own ?? null, own)).to.equal(true);
      }),
    );
  });

  it('can be any number, but only integers that a double holds exactly', () => {
    const safe = { a: 2 ** 53 - 1, b: -(2 ** 53) + 1, c: 0.1, d: 5e-324, e: 1.5e15 };
    expect(user({ name: 'x', ...safe })).to.deep.include(safe);
    expect(Object.is(user({ name: 'x', zero: -0 }).zero, 0)).to.equal(true);
    for (const number of [2 ** 53, -(2 ** 53), 1e300, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(issues(() => user({ name: 'x', n: number }))).to.deep.equal(['/n number-range']);
    }
  });

  it('have keys of 1 to 64 code points, not "__proto__"', () => {
    expect(issues(() => user({ name: 'x', ['😀'.repeat(64)]: 1 }))).to.deep.equal([]);
    // A pointer has no longer one: the issue is at the object that has it.
    const long = { ['k'.repeat(65)]: '\0' };
    expect(issues(() => user({ name: 'x', ...long }))).to.deep.equal([' key']);
    expect(issues(() => user({ name: 'x', a: [long] }))).to.deep.equal(['/a/0 key']);
    expect(issues(() => user(JSON.parse('{"name":"x","a":{"__proto__":1}}')))).to.deep.equal([
      '/a/__proto__ key',
    ]);
    expect(issues(() => user({ name: 'x', 'a/b~c\0': 1 }))).to.deep.equal(['/a~1b~0c\0 key']);
  });

  it('can be nested 16 levels deep, counting the record as the first', () => {
    expect(issues(() => user({ name: 'x', a: nested(15) }))).to.deep.equal([]);
    expect(issues(() => user({ name: 'x', a: nested(16) }))).to.deep.equal([
      `${'/a'.repeat(16)} too-deep`,
    ]);
    const cyclic: Record<string, unknown> = { name: 'x' };
    cyclic.a = cyclic;
    expect(issues(() => user(cyclic))).to.deep.equal([`${'/a'.repeat(16)} too-deep`]);
  });

  it('must be JSON; undefined counts as absent', () => {
    expect(user({ name: 'Ada', gone: undefined })).to.deep.equal(user());
    for (const value of [() => 1, Symbol('x'), 1n, new Date(), [undefined], new Map()]) {
      expect(issues(() => user({ name: 'x', own: value }))).to.have.length(1);
    }
  });

  it('can have 50,000 values, and no more', () => {
    const filled = (values: number) => ({
      name: 'x',
      own: { a: Array.from({ length: values - 3 }, () => 0) },
    });
    expect(issues(() => user(filled(50_000)))).to.deep.equal([]);
    expect(issues(() => user(filled(50_001)))).to.deep.equal([' too-large']);
    const members = Array.from({ length: 50_000 }, (_, n) => [`a${n}`, n]);
    expect(issues(() => user({ name: 'x', ...Object.fromEntries(members) }))).to.deep.equal([
      ' too-large',
    ]);
  });

  it('can take a record to 1 MiB of compact JSON, and no further', () => {
    const filled = (bytes: number) => ({ name: 'x', own: 'é'.repeat((bytes - 21) / 2) });
    const most = 1_048_576;
    expect(JSON.stringify(filled(most + 1)).length).to.be.below(most);
    expect(issues(() => user(filled(most - 1)))).to.deep.equal([]);
    expect(issues(() => user(filled(most + 1)))).to.deep.equal([' too-large']);
  });

  describe('with a schema of the deployment (Standard Schema)', () => {
    const schemaOf = (validate: (value: unknown) => unknown): CustomFieldsSchema => ({
      '~standard': { version: 1, vendor: 'test', validate },
    });
    const make = (schema: CustomFieldsSchema, input: object) =>
      userModel(schema).create({ name: 'Ada', ...input }, 'u1', t0);
    /** Making a record by a schema whose result is always this. */
    const making = (result: unknown) => () =>
      make(
        schemaOf(() => result),
        {},
      );

    it('are validated by it in addition to the rules', () => {
      const strict = z.strictObject({ age: z.int().optional() });
      expect(make(strict, { age: 36 })).to.deep.include({ age: 36 });
      expect(issues(() => make(strict, { age: 'x' }))).to.deep.equal(['/age invalid']);
      expect(issues(() => make(strict, { name: '', extra: 1 }))).to.deep.equal([
        ' invalid',
        '/name too-short',
      ]);
      // What is wrong as a piece of JSON is not judged a second time.
      const loose = z.looseObject({ n: z.number() });
      expect(issues(() => make(loose, { n: 2 ** 60 }))).to.deep.equal(['/n number-range']);
    });

    it('are stored as it returns them, without undefined members', () => {
      const schema = z.object({
        tag: z.string().default('none'),
        rank: z.coerce.number().optional(),
      });
      expect(make(schema, { rank: '7', extra: 1 })).to.deep.equal({
        ...user(),
        tag: 'none',
        rank: 7,
      });
      const undone = schemaOf((value) => ({ value: { ...(value as object), gone: undefined } }));
      expect(make(undone, { a: 1 })).to.deep.equal({ ...user(), a: 1 });
    });

    it('count towards the size of a record, with the fields that it adds', () => {
      expect(issues(making({ value: { pad: 'x'.repeat(1_048_576) } }))).to.deep.equal([
        ' too-large',
      ]);
    });

    it('do not change if the schema modifies its argument', () => {
      const meddling = schemaOf((value) => {
        const copy = structuredClone(value);
        Object.assign(value as object, { added: 1 });
        return { value: copy };
      });
      expect(make(meddling, { a: 1 })).to.deep.equal({ ...user(), a: 1 });
    });

    it('are not validated again while they stay the same', () => {
      const before = user({ name: 'Ada', legacy: true });
      const strict = userModel(z.strictObject({ born: z.int() }));
      expect(strict.patch(before, { name: 'Bo' }, t1)).to.deep.include({ legacy: true });
      expect(strict.patch(before, {}, t1)).to.equal(before);
      expect(strict.replace(before, { name: 'Bo', legacy: true }, t1).name).to.equal('Bo');
      expect(issues(() => strict.patch(before, { born: 1 }, t1))).to.deep.equal([' invalid']);
    });

    it('cannot have a schema that is asynchronous or throws, without ending the process', async () => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown) => unhandled.push(reason);
      process.on('unhandledRejection', note);
      try {
        const throwing = z.strictObject({ url: z.string().refine((s) => new URL(s).host !== '') });
        const asynchronous = z.strictObject({ url: z.string().refine(async () => true) });
        for (const schema of [throwing, asynchronous]) {
          expect(() => make(schema, { url: 'no url' })).to.throw(TypeError, /promise/);
        }
        const plain = schemaOf(() => {
          throw new RangeError('mine');
        });
        expect(() => make(plain, {})).to.throw(TypeError, /threw/);
        const thenable = Object.defineProperty({}, 'then', { value: () => {} });
        expect(making(thenable)).to.throw(TypeError, /synchronous/);
        await new Promise((done) => setTimeout(done, 5));
        expect(unhandled).to.deep.equal([]);
      } finally {
        process.off('unhandledRejection', note);
      }
    });

    it('reject a schema whose result is not a Standard Schema result', () => {
      const none = [undefined, null, { issues: [null] }, { issues: [{}] }, { issues: 'x' }];
      const odd = [{ issues: [{ message: 'm', path: 'ab' }] }];
      for (const result of [...none.slice(2), ...odd]) {
        expect(making(result)).to.throw(TypeError, /not return a Standard Schema result/);
      }
      for (const result of none.slice(0, 2)) {
        expect(making(result)).to.throw(TypeError, /not return a JSON object/);
      }
    });

    it('reject a schema whose result cannot be stored', () => {
      for (const value of [7, [], new Date(), { at: new Date() }, { n: 1n }, { n: Number.NaN }]) {
        expect(making({ value })).to.throw(TypeError, /not return a JSON object/);
      }
      expect(making({ value: { email: 'x' } })).to.throw(
        TypeError,
        /"email", which is one of Rostrum/,
      );
      const oneWay = z.object({ n: z.string().transform(Number) });
      expect(() => make(oneWay, { n: '1' })).to.throw(TypeError, /does not accept/);
    });
  });
});

describe('replacing a record', () => {
  it('removes missing fields and keeps id and createdAt', () => {
    const before = user({ name: 'Ada', email: 'a@b', own: 1 });
    expect(users.replace(before, { name: 'Bo' }, t1)).to.deep.equal({
      ...user({ name: 'Bo' }),
      updatedAt: t1,
    });
  });

  it('returns the same object when nothing changes', () => {
    fc.assert(
      fc.property(customValue, (own) => {
        const before = user({ name: 'Ada', own });
        const sentBack = JSON.parse(JSON.stringify(before));
        expect(users.replace(before, sentBack, t1)).to.equal(before);
        expect(users.patch(before, { name: ' Ada ' }, t1)).to.equal(before);
      }),
    );
  });

  it('accepts only the id of the record', () => {
    expect(issues(() => users.replace(user(), { name: 'Bo', id: 'u1' }, t1))).to.deep.equal([]);
    for (const id of ['u2', 7, null, '']) {
      expect(issues(() => users.replace(user(), { name: 'Bo', id }, t1))).to.deep.equal([
        '/id mismatch',
      ]);
      expect(issues(() => users.patch(user(), { id }, t1))).to.deep.equal(['/id mismatch']);
    }
  });

  it('advances updatedAt even if the clock stands still or steps back', () => {
    const next = users.replace(user(), { name: 'Bo' }, '2020-01-01T00:00:00.000Z');
    expect(next.updatedAt).to.equal('2026-11-21T09:30:00.001Z');
  });
});

describe('patching a record', () => {
  it('changes only the fields that the patch names', () => {
    const before = post({ title: 'x', body: 'y', own: { a: 1, b: 2 } });
    expect(posts.patch(before, { own: { b: null, c: 3 } }, t1)).to.deep.equal({
      ...before,
      own: { a: 1, c: 3 },
      updatedAt: t1,
    });
  });

  it('publishes and unpublishes a post, which a replacement does not', () => {
    const draft = post({ title: 'x', publishedAt: null });
    expect(posts.replace(draft, { title: 'y' }, t1).publishedAt).to.equal(null);
    expect(posts.patch(draft, { title: 'y' }, t1).publishedAt).to.equal(null);
    expect(posts.patch(draft, { publishedAt: null }, t1)).to.equal(draft);
    const published = posts.patch(draft, { publishedAt: t1 }, t1);
    expect(published).to.deep.equal({ ...draft, publishedAt: t1, updatedAt: t1 });
    expect(posts.replace(published, { title: 'x' }, t1)).to.equal(published);
    expect(posts.patch(published, { publishedAt: null }, t1).publishedAt).to.equal(null);
    expect(posts.replace(published, { title: 'x', publishedAt: null }, t1).publishedAt).to.equal(
      null,
    );
  });

  it('removes a field that is null, or resets it to its fallback', () => {
    const before = post({ title: 'x', body: 'y', own: 1 });
    const after = posts.patch(before, { body: null, own: null }, t1);
    expect(after.body).to.equal('');
    expect(after).to.not.have.property('own');
    expect(issues(() => posts.patch(before, { title: null }, t1))).to.deep.equal([
      '/title required',
    ]);
  });

  it('rejects a patch that is nested too deep before merging it', () => {
    expect(issues(() => users.patch(user(), { a: nested(16) }, t1))).to.deep.equal([
      `${'/a'.repeat(16)} too-deep`,
    ]);
    let deep: unknown = null;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(issues(() => users.patch(user(), { a: deep }, t1))).to.have.length(1);
  });

  it('rejects a patch that makes the record too large', () => {
    const before = user({ name: 'x', a: 'x'.repeat(600_000) });
    expect(issues(() => users.patch(before, { b: 'x'.repeat(600_000) }, t1))).to.deep.equal([
      ' too-large',
    ]);
  });

  it('requires a plain object', () => {
    for (const patch of [null, [], 'x', new Date()]) {
      expect(issues(() => users.patch(user(), patch, t1))).to.deep.equal([' type']);
    }
  });

  it('gives the same result as replacing the record with the merged one', () => {
    const patches = fc.dictionary(fc.constantFrom('name', 'email', 'own', 'x'), customValue);
    fc.assert(
      fc.property(patches, (patch) => {
        const before = user({ name: 'Ada', own: { a: 1 } });
        if (issues(() => users.patch(before, patch, t1)).length > 0) return;
        const after = users.patch(before, patch, t1);
        expect(isPlainObject(after)).to.equal(true);
        expect(after.id).to.equal(before.id);
        expect(after.updatedAt).to.equal(after === before ? t0 : t1);
        expect(users.patch(after, patch, t1)).to.equal(after);
      }),
    );
  });
});
