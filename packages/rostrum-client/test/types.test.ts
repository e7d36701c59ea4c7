import { expect } from 'chai';
import type { Span } from '../../../src/domain/lists/declared-filters.ts';
import type * as coreDeclared from '../../../src/domain/lists/declared-types.ts';
import type * as core from '../../../src/index.ts';
import { contractCodes } from '../../../test/support/contract-codes.ts';
import type * as ownDeclared from '../src/declared-fields.ts';
import {
  type AnyApiProblem,
  createClient,
  type DeclaredFields,
  isApiProblem,
  type Json,
  type PublicUser,
  type RecordOf,
  type Versioned,
} from '../src/index.ts';
import { reactAdminProvider } from '../src/react-admin.ts';
import type * as own from '../src/records.ts';
import { refineProvider } from '../src/refine.ts';

// Misuses, which must not compile, next to correct calls. If a misuse compiles, its `@ts-expect-error` fails
// the type check. No request is sent.

const options = { url: 'http://127.0.0.1:1/api/v1' };
const typed = createClient<
  { posts: { slug: 'text' } },
  { users: { born: number; home?: { city: string } }; posts: { slug: string } }
>(options);
const free = createClient(options);
const compiled = (...calls: ((value: never) => unknown)[]) => expect(calls).not.to.have.length(0);

describe('the types of the client', () => {
  it('know custom fields in records and inputs', () => {
    compiled(
      async () => {
        const { record, version, etag } = await typed.users.get('u');
        const values: [number, string, string | null, number, string] = [
          record.born,
          record.name,
          record.email,
          version,
          etag,
        ];
        // @ts-expect-error: unknown custom field
        return [values, record.bron];
      },
      () => typed.users.create({ name: 'Ada', born: 1815 }),
      // @ts-expect-error: the custom field is missing
      () => typed.users.create({ name: 'Ada' }),
      // @ts-expect-error: unknown custom field
      () => typed.users.create({ name: 'Ada', born: 1815, bron: 1 }),
      () => typed.users.patch('u', { email: null, home: null }),
      // @ts-expect-error: a required field cannot be null
      () => typed.users.patch('u', { born: null }),
      () => typed.posts.replace('p', { title: 'A', slug: 'a', authorId: null }),
      // @ts-expect-error: the title is missing
      () => typed.posts.replace('p', { slug: 'a' }),
      () => typed.users.update('u', (user) => ({ ...user, born: user.born + 1 })),
      // @ts-expect-error: the custom field has the wrong type
      () => typed.users.update('u', (user) => ({ ...user, born: 'then' })),
    );
  });

  it('accept any JSON without types of custom fields', () => {
    compiled(
      () => free.users.create({ name: 'Ada', born: { year: 1815 } }),
      // @ts-expect-error: the name is missing
      () => free.users.create({ born: 1815 }),
      // @ts-expect-error: not JSON
      () => free.users.create({ name: 'Ada', born: new Date() }),
    );
  });

  it('can have different types for inputs and records', () => {
    const lenient = createClient<
      object,
      { users: { born: number } },
      { users: { born?: number | string } }
    >(options);
    compiled(
      () => lenient.users.create({ name: 'Ada' }),
      () => lenient.users.create({ name: 'Ada', born: '1815' }),
      async () => (await lenient.users.get('u')).record.born.toFixed(),
      // @ts-expect-error: wrong input type
      () => lenient.users.create({ name: 'Ada', born: true }),
    );
  });

  it('know the filters and sorts of each resource', () => {
    compiled(
      () => typed.users.list({ email: 'a', sort: '-name', createdAt: { gte: new Date() } }),
      // @ts-expect-error: only posts have titles
      () => typed.users.list({ title: 'A' }),
      // @ts-expect-error: users cannot be sorted by title
      () => typed.users.list({ sort: 'title' }),
      () => typed.posts.list({ authorId: null, slug: 'a', sort: 'title', count: 'exact' }),
      // @ts-expect-error: a custom field that is not declared
      () => typed.users.list({ born: 1815 }),
      // @ts-expect-error: unknown bound
      () => free.posts.list({ createdAt: { after: '2026' } }),
      () => typed.users.list({ name: { startsWith: 'a' }, email: { startsWith: 'a' } }),
      // @ts-expect-error: startsWith must be a string
      () => typed.users.list({ name: { startsWith: null } }),
      () => typed.posts.list({ title: { startsWith: 'a' }, authorId: 'me', publishedAt: null }),
      () => free.posts.list({ publishedAt: { lte: new Date() }, sort: '-publishedAt' }),
      // @ts-expect-error: must be null or bounds
      () => free.posts.list({ publishedAt: true }),
      () => free.posts.list({ id: ['a', 'b'], cursor: null, limit: 1 }),
    );
  });

  it('know which fields the records of a list have', () => {
    compiled(
      async () => {
        const { items } = await typed.users.list({ fields: ['name', 'born'], limit: 1 });
        const values = items.map(({ id, name, born }): [string, string, number] => [
          id,
          name,
          born,
        ]);
        // @ts-expect-error: field not requested
        return [values, items[0]?.email];
      },
      async () => {
        const values: string[] = [];
        for await (const post of typed.posts.all({ fields: ['slug'], sort: 'title' })) {
          values.push(post.slug);
          // @ts-expect-error: field not requested
          values.push(post.title);
        }
        return values;
      },
      // @ts-expect-error: not a field of users
      () => typed.users.list({ fields: ['title'] }),
      async () => {
        const { items } = await free.posts.list({ fields: ['title', 'slug'] });
        const title: string | undefined = items[0]?.title;
        // @ts-expect-error: a custom field can be missing
        const slug: Json = items[0]?.slug;
        // @ts-expect-error: field not requested
        return [title, slug, items[0]?.body];
      },
      async () => (await free.posts.list({ fields: [] })).items.map(({ id }) => id),
      // @ts-expect-error: no fields requested
      async () => (await free.posts.list({ fields: [] })).items.map(({ title }) => title),
      async () => (await free.posts.list({})).items.map(({ title, slug }) => [title, slug]),
    );
  });

  it('allow any filter and sort if only the type of a declaration is known', () => {
    const { posts } = createClient<DeclaredFields>(options);
    compiled(
      () => posts.list({ slug: 'a', limit: 5, sort: '-views' }),
      // @ts-expect-error: a known parameter keeps its type
      () => posts.list({ limit: '5' }),
    );
  });

  it('name the record of a resource', () => {
    compiled(() => (post: RecordOf<typeof typed.posts>) => post.slug.length);
  });

  it('know the included authors in the public view', () => {
    compiled(
      async () => {
        const { items, users } = await typed.posts.list({ include: 'author', title: 'A' });
        const [post] = items;
        const author = users.find(({ id }) => id === post?.authorId);
        const values: (number | string | null | undefined)[] = [author?.name, author?.email];
        const born: number | undefined = author?.born;
        // @ts-expect-error: the public view has no updatedAt
        return [values, born, author?.updatedAt];
      },
      async () => {
        const { items } = await typed.posts.list({ include: 'author', fields: ['title'] });
        const authorIds = items.map(({ authorId, title }) => [authorId, title]);
        // @ts-expect-error: field not requested
        return [authorIds, items[0]?.slug];
      },
      // @ts-expect-error: authors were not included
      async () => (await typed.posts.list({ title: 'A' })).users,
      // @ts-expect-error: users have no authors
      () => typed.users.list({ include: 'author' }),
      // @ts-expect-error: iteration yields only posts
      () => typed.posts.all({ include: 'author' }),
      async () => {
        const seen: Versioned<PublicUser<{ born: number }>> = await typed.users.get('u');
        // @ts-expect-error: can be missing in the public view
        const born: number = seen.record.born;
        return born;
      },
    );
  });

  it('know the caller’s own user', () => {
    compiled(
      async () => (await typed.me.save({ name: 'Ada', born: 1815 })).created satisfies boolean,
      // @ts-expect-error: the custom field is missing
      () => typed.me.save({ name: 'Ada' }),
      () => typed.me.patch({ home: null }, { ifMatch: 1 }),
      async () => (await typed.me.get()).record.born.toFixed(),
      () => typed.me.delete({ posts: 'delete' }),
      // @ts-expect-error: takes no id
      () => typed.me.get('u'),
    );
  });

  it('know the options of each call', () => {
    compiled(
      () => free.users.create({ name: 'A' }, { idempotencyKey: 'k', signal: AbortSignal.abort() }),
      // @ts-expect-error: a new record has no version to match
      () => free.users.create({ name: 'A' }, { ifMatch: 1 }),
      () => free.users.delete('u', { posts: 'keep', ifMatch: '*' }),
      // @ts-expect-error: unknown mode
      () => free.users.delete('u', { posts: 'forget' }),
      () => free.posts.delete('p', { ifMatch: 1 }),
      // @ts-expect-error: a post has no posts
      () => free.posts.delete('p', { posts: 'keep' }),
    );
  });

  it('fit the data providers with any custom fields', () => {
    compiled(
      () => [reactAdminProvider(typed), reactAdminProvider(free)],
      () => [refineProvider(typed), refineProvider(free)],
      // @ts-expect-error: not a client
      () => reactAdminProvider({ url: '/api/v1' }),
    );
  });

  it('narrow a problem by its code', () => {
    compiled(
      () => (problem: AnyApiProblem) => {
        switch (problem.code) {
          case 'user-has-posts':
            return problem.details.posts?.toFixed();
          case 'store-unavailable':
            return problem.details.outcome;
          case 'invalid-query':
            return problem.details.allowed.join();
          default:
            // @ts-expect-error: only one code has this member
            return problem.details.posts;
        }
      },
      () => (error: unknown) => isApiProblem(error, 'user-has-posts') && error.details.posts,
      // @ts-expect-error: unknown code
      () => (error: unknown) => isApiProblem(error, 'users-has-posts'),
    );
  });

  it("equal the server's types", () => {
    compiled((all: OwnTypes) => all satisfies Readonly<Record<string, true>>);
  });

  it('know every error code of the contract', () => {
    // Checked by the compiler: a code that is missing or extra in the client does not compile.
    const known: readonly ContractCode[] = Object.values(contractCodes).flat();
    const codes: readonly Exclude<AnyApiProblem['code'], ClientCode>[] = known;
    expect(codes satisfies readonly ContractCode[]).not.to.have.length(0);
  });
});

type ContractCode = (typeof contractCodes)[keyof typeof contractCodes][number];
type ClientCode = 'no-response' | 'unexpected-response';

type Custom = { born: number; home?: { city: string } };

/** True if the compiler considers two types identical, including `readonly` and `?`. */
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** A field of each type. */
type Fields = { readonly [Type in core.DeclaredType]: Type } & {
  readonly unique: { readonly type: 'text'; readonly unique: true };
};

/** Which values the filter of each field accepts. */
type Accepted<Filters, Texts, Numbers> = {
  readonly [K in keyof Filters]-?: {
    readonly text: string extends Filters[K] ? true : false;
    readonly texts: Texts extends Filters[K] ? true : false;
    readonly start: { readonly startsWith: string } extends Filters[K] ? true : false;
    readonly number: number extends Filters[K] ? true : false;
    readonly numbers: Numbers extends Filters[K] ? true : false;
    readonly boolean: boolean extends Filters[K] ? true : false;
    readonly list: readonly string[] extends Filters[K] ? true : false;
    readonly null: null extends Filters[K] ? true : false;
  };
};

type OwnTypes = {
  Json: Equal<own.Json, core.Json>;
  Id: Equal<own.Id, core.Id>;
  Version: Equal<own.Version, core.Version>;
  Instant: Equal<own.Instant, core.Instant>;
  Outcome: Equal<own.Outcome, core.Outcome>;
  FieldCode: Equal<own.FieldCode, core.FieldCode>;
  UserSort: Equal<own.UserSort, core.UserSort>;
  PostSort: Equal<own.PostSort, core.PostSort>;
  User: Equal<own.User<Custom>, core.User<Custom>>;
  PublicUser: Equal<own.PublicUser<Custom>, core.PublicUser<Custom>>;
  UserInput: Equal<own.UserInput<Custom>, core.UserInput<Custom>>;
  UserPatch: Equal<own.UserPatch<Custom>, core.UserPatch<Custom>>;
  Post: Equal<own.Post<Custom>, core.Post<Custom>>;
  PostInput: Equal<own.PostInput<Custom>, core.PostInput<Custom>>;
  PostPatch: Equal<own.PostPatch<Custom>, core.PostPatch<Custom>>;
  DeclaredValues: Equal<ownDeclared.DeclaredValues<Fields>, coreDeclared.DeclaredValues<Fields>>;
  DeclaredSort: Equal<ownDeclared.DeclaredSort<Fields>, coreDeclared.DeclaredSortOf<Fields>>;
  DeclaredFilters: Equal<
    Accepted<
      ownDeclared.DeclaredFilters<Fields>,
      ownDeclared.Bounds<string>,
      ownDeclared.Bounds<number>
    >,
    Accepted<coreDeclared.DeclaredFilterOf<Fields>, Span<string>, Span<number>>
  >;
  Declaration: core.DeclaredFields extends DeclaredFields ? true : false;
  AnyUser: Equal<own.User, core.User>;
  AnyInput: Equal<own.PostInput, core.PostInput>;
};
