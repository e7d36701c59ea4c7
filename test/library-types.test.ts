import { expect } from 'chai';
import { z } from 'zod';
import { createMemoryStore } from '../src/adapters/memory/index.ts';
import { type AnyRostrum, createRostrum, isRostrumError, RostrumError } from '../src/index.ts';
import { errorOf } from './support/error-of.ts';

// library-misuses.test.ts tests what must not compile.

const store = createMemoryStore();
const schema = z.strictObject({ born: z.int(), tag: z.string().optional() });

describe('the types of the library', () => {
  const typed = createRostrum(store, { customFields: { users: schema } });
  const free = createRostrum(store);

  it('are inferred from the schema', async () => {
    const { record } = await typed.users.create({ name: 'Ada', born: 1815 });
    const born: number = record.born;
    const email: string | null = record.email;
    expect([born, email]).to.deep.equal([1815, null]);
  });

  it('allow any JSON without a schema', async () => {
    const { record } = await free.users.create({ name: 'Ada', born: { year: 1815 } });
    expect(record.born).to.deep.equal({ year: 1815 });
  });

  it('preserve unions in the schema', async () => {
    const { posts } = createRostrum(store, {
      customFields: {
        posts: z.discriminatedUnion('form', [
          z.strictObject({ form: z.literal('text'), pages: z.int() }),
          z.strictObject({ form: z.literal('image'), url: z.string() }),
        ]),
      },
    });
    const { record } = await posts.create({ title: 'x', form: 'image', url: '/x' });
    expect(record.form === 'image' ? record.url : record.pages).to.equal('/x');
  });

  it('work for schemas that are loose, recursive or unknown', () => {
    interface Node {
      readonly children: readonly Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() => z.strictObject({ children: z.array(node) }));
    const rostrums: AnyRostrum[] = [
      createRostrum(store, { customFields: { users: z.looseObject({ node, more: z.unknown() }) } }),
      createRostrum(store, { customFields: { posts: z.record(z.string(), z.string()) } }),
      typed,
      free,
    ];
    expect(rostrums).to.have.length(4);
  });

  it('check declared fields in every list, and parts of records', async () => {
    const declaredFields = { users: { born: 'number' }, posts: { pages: 'number' } } as const;
    const store = createMemoryStore({ declaredFields });
    const { users, posts } = createRostrum(store, { publicUserFields: ['born'] });
    const byPages = { order: { by: 'pages', direction: 'asc' } } as const;
    expect((await posts.listWithAuthors(byPages)).items).to.deep.equal([]);
    const born = { filter: { born: 1815 } };
    const named = () => users.listPublic({ ...born, fields: ['name'] });
    // @ts-expect-error A name that was requested can be missing, as far as the compiler knows.
    const name = async () => (await named()).items[0]?.record.name.length;
    // @ts-expect-error No field of this name is declared for posts.
    const undeclared = () => posts.listWithAuthors(born);
    expect(await name()).to.equal(undefined);
    expect(await errorOf(undeclared())).to.be.instanceOf(TypeError);
  });

  it('recognize errors of another copy of the package', async () => {
    const path = '../src/domain/errors.ts?copy';
    const copy = (await import(path)) as typeof import('../src/domain/errors.ts');
    const error: unknown = new copy.RostrumError('user-has-posts', { posts: 2 });
    expect(error).not.to.be.instanceOf(RostrumError);
    expect(isRostrumError(error, 'user-has-posts') && error.details.posts).to.equal(2);
    expect(isRostrumError(error, 'overloaded')).to.equal(false);
    expect(isRostrumError(Object.assign(new Error(), { code: 'overloaded' }))).to.equal(false);
  });

  it('narrow errors by their code', async () => {
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
