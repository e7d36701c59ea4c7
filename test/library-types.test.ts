import { expect } from 'chai';
import { z } from 'zod';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import {
  type AnyRostrum,
  createRostrum,
  isRostrumError,
  type Rostrum,
  RostrumError,
} from '../src/index.ts';

// What does not compile stands beside a twin that does: each `@ts-expect-error` fails the check of
// types when its line compiles. The calls run too, so each one is written as a function.

const store = createMemoryStore();
const schema = z.strictObject({
  born: z.int(),
  tag: z.string().optional(),
  home: z.strictObject({ city: z.string(), zip: z.string().optional() }).optional(),
});

describe('the types of the library', () => {
  const typed = createRostrum(store, { customFields: { users: schema } });
  const free = createRostrum(store);
  const compiled = (...calls: (() => unknown)[]) => expect(calls).not.to.have.length(0);

  it('are those of the schema', async () => {
    const { record } = await typed.users.create({ name: 'Ada', born: 1815 });
    const born: number = record.born;
    const email: string | null = record.email;
    expect([born, email]).to.deep.equal([1815, null]);
    // @ts-expect-error: no such field
    expect(record.emial).to.equal(undefined);
    compiled(
      () => typed.users.create({ name: 'x', born: 1, tag: 'y' }),
      // @ts-expect-error: the name is missing
      () => typed.users.create({ nmae: 42 }),
      // @ts-expect-error: no such custom field
      () => typed.users.create({ name: 'x', born: 1, bron: 2 }),
      () => typed.users.patch('u', { tag: null, home: { zip: null } }),
      // @ts-expect-error: a required field takes no null
      () => typed.users.patch('u', { born: null }),
      // @ts-expect-error: no patch
      () => typed.users.patch('u', 'text'),
      () => typed.users.update('u', (user) => ({ ...user, born: user.born + 1 })),
      // @ts-expect-error: no such custom field
      () => typed.users.update('u', (user) => ({ ...user, bron: 1 })),
      () => typed.users.replace('u', record),
      // @ts-expect-error: the custom field is missing
      () => typed.users.replace('u', { name: 'x' }),
    );
  });

  it('are any JSON without a schema', async () => {
    const { record } = await free.users.create({ name: 'Ada', born: { year: 1815 } });
    expect(record.born).to.deep.equal({ year: 1815 });
    compiled(
      () => free.users.create({ name: 'x', email: null }),
      // @ts-expect-error: the name is missing
      () => free.users.create({ nmae: 42 }),
      // @ts-expect-error: no JSON
      () => free.users.create({ name: 'x', at: new Date() }),
      () => free.users.patch('u', { born: null, email: null }),
      // @ts-expect-error: a required field takes no null
      () => free.users.patch('u', { name: null }),
      // @ts-expect-error: no patch
      () => free.users.patch('u', 'text'),
      () => free.users.delete('u', { posts: 'keep', only: [1] }),
      // @ts-expect-error: a text for options
      () => free.users.delete('u', 'Keep'),
      // @ts-expect-error: no such mode
      () => free.users.delete('u', { posts: 'Keep' }),
      () => free.users.list({ filter: { name: 'x' } }),
      // @ts-expect-error: no such filter
      () => free.users.list({ filter: { nmae: 'x' } }),
      () => free.posts.list({ order: { by: 'title', direction: 'asc' } }),
      // @ts-expect-error: no such sort
      () => free.posts.list({ order: { by: 'name', direction: 'asc' } }),
    );
  });

  it('keep the union of a schema', async () => {
    const { posts } = createRostrum(store, {
      customFields: {
        posts: z.discriminatedUnion('form', [
          z.strictObject({ form: z.literal('text'), words: z.int() }),
          z.strictObject({ form: z.literal('image'), url: z.string() }),
        ]),
      },
    });
    const { record } = await posts.create({ title: 'x', form: 'image', url: '/x' });
    // @ts-expect-error: only in one arm
    expect(record.url).to.equal('/x');
    expect(record.form === 'image' ? record.url : record.words).to.equal('/x');
  });

  it('refuse schemas that cannot be used, as far as types can tell', () => {
    const usable = z.looseObject({ a: z.int() });
    const named = z.strictObject({ name: z.string() });
    const dated = z.strictObject({ at: z.date() });
    const oneWay = z.strictObject({ n: z.string().transform(Number) });
    compiled(
      () => createRostrum(store, { customFields: { users: usable } }),
      // @ts-expect-error: a field of Rostrum's own
      () => createRostrum(store, { customFields: { users: named } }),
      // @ts-expect-error: no JSON
      () => createRostrum(store, { customFields: { users: dated } }),
      // @ts-expect-error: it does not accept what it returned
      () => createRostrum(store, { customFields: { users: oneWay } }),
      (): Rostrum => createRostrum(store),
      // @ts-expect-error: no schema says so
      (): Rostrum<{ born: number }> => createRostrum(store),
    );
  });

  it('let every Rostrum be served, whatever its schemas are', () => {
    const anyOf = (rostrum: AnyRostrum): AnyRostrum => rostrum;
    compiled(
      () => anyOf(typed),
      () => anyOf(free),
      // @ts-expect-error: a store is none
      () => anyOf(store),
    );
  });

  it('know an error of another copy of the package', async () => {
    const path = '../src/domain/errors.ts?copy';
    const copy = (await import(path)) as typeof import('../src/domain/errors.ts');
    const error: unknown = new copy.RostrumError('user-has-posts', { posts: 2 });
    expect(error).not.to.be.instanceOf(RostrumError);
    expect(isRostrumError(error, 'user-has-posts') && error.details.posts).to.equal(2);
    expect(isRostrumError(error, 'overloaded')).to.equal(false);
    expect(isRostrumError(Object.assign(new Error(), { code: 'overloaded' }))).to.equal(false);
  });

  it('narrow an error by its code', async () => {
    const error: unknown = await free.users.get('none').catch((reason: unknown) => reason);
    if (!isRostrumError(error)) throw error;
    switch (error.code) {
      case 'user-not-found': {
        const id: string = error.details.id;
        expect(id).to.equal('none');
        break;
      }
      case 'version-mismatch': {
        const version: number = error.details.version;
        throw new Error(`a version, ${version}`);
      }
      default:
        throw error;
    }
  });
});
