import { expect } from 'chai';
import type * as core from '../../../src/index.ts';
import { contractCodes } from '../../../test/support/contract-codes.ts';
import {
  type AnyApiProblem,
  createClient,
  isApiProblem,
  type Json,
  type PublicUser,
  type Versioned,
} from '../src/index.ts';
import { reactAdminProvider } from '../src/react-admin.ts';
import type * as own from '../src/records.ts';
import { refineProvider } from '../src/refine.ts';

// What does not compile stands beside a twin that does: each `@ts-expect-error` fails the check of
// types when its line compiles. Nothing here is sent.

const options = { url: 'http://127.0.0.1:1/api/v1' };
const typed = createClient<{ born: number; home?: { city: string } }, { slug: string }>(options);
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
        // @ts-expect-error: no such custom field
        return [values, record.bron];
      },
      () => typed.users.create({ name: 'Ada', born: 1815 }),
      // @ts-expect-error: the custom field is missing
      () => typed.users.create({ name: 'Ada' }),
      // @ts-expect-error: no such custom field
      () => typed.users.create({ name: 'Ada', born: 1815, bron: 1 }),
      () => typed.users.patch('u', { email: null, home: null }),
      // @ts-expect-error: a required field takes no null
      () => typed.users.patch('u', { born: null }),
      () => typed.posts.replace('p', { title: 'A', slug: 'a', authorId: null }),
      // @ts-expect-error: the title is missing
      () => typed.posts.replace('p', { slug: 'a' }),
      () => typed.users.update('u', (user) => ({ ...user, born: user.born + 1 })),
      // @ts-expect-error: the custom field is of another type
      () => typed.users.update('u', (user) => ({ ...user, born: 'then' })),
    );
  });

  it('take any JSON without types of custom fields', () => {
    compiled(
      () => free.users.create({ name: 'Ada', born: { year: 1815 } }),
      // @ts-expect-error: the name is missing
      () => free.users.create({ born: 1815 }),
      // @ts-expect-error: no JSON
      () => free.users.create({ name: 'Ada', born: new Date() }),
    );
  });

  it('tell inputs from records, where a schema does', () => {
    const lenient = createClient<{ born: number }, object, { born?: number | string }>(options);
    compiled(
      () => lenient.users.create({ name: 'Ada' }),
      () => lenient.users.create({ name: 'Ada', born: '1815' }),
      async () => (await lenient.users.get('u')).record.born.toFixed(),
      // @ts-expect-error: no such input
      () => lenient.users.create({ name: 'Ada', born: true }),
    );
  });

  it('know the filters and sorts of each resource', () => {
    compiled(
      () => typed.users.list({ email: 'a', sort: '-name', createdAt: { gte: new Date() } }),
      // @ts-expect-error: posts have titles, users have not
      () => typed.users.list({ title: 'A' }),
      // @ts-expect-error: users are not sorted by title
      () => typed.users.list({ sort: 'title' }),
      () => typed.posts.list({ authorId: null, slug: 'a', sort: 'title', count: 'exact' }),
      // @ts-expect-error: a custom field of another type
      () => typed.posts.list({ slug: 1 }),
      // @ts-expect-error: a custom field that is no scalar
      () => typed.users.list({ home: { city: 'London' } }),
      // @ts-expect-error: no such bound
      () => free.posts.list({ createdAt: { after: '2026' } }),
      () => typed.users.list({ name: { startsWith: 'a' }, email: { startsWith: 'a' } }),
      // @ts-expect-error: a beginning is a text
      () => typed.users.list({ name: { startsWith: null } }),
      () => typed.posts.list({ title: { startsWith: 'a' }, authorId: 'me', publishedAt: null }),
      () => free.posts.list({ publishedAt: { lte: new Date() }, sort: '-publishedAt' }),
      // @ts-expect-error: nothing but null and bounds
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
        // @ts-expect-error: it was not asked for
        return [values, items[0]?.email];
      },
      async () => {
        const values: string[] = [];
        for await (const post of typed.posts.all({ fields: ['slug'], sort: 'title' })) {
          values.push(post.slug);
          // @ts-expect-error: it was not asked for
          values.push(post.title);
        }
        return values;
      },
      // @ts-expect-error: users have no such field
      () => typed.users.list({ fields: ['title'] }),
      async () => {
        const { items } = await free.posts.list({ fields: ['title', 'slug'] });
        const title: string | undefined = items[0]?.title;
        // @ts-expect-error: a record need not have a custom field
        const slug: Json = items[0]?.slug;
        // @ts-expect-error: it was not asked for
        return [title, slug, items[0]?.body];
      },
      async () => (await free.posts.list({ fields: [] })).items.map(({ id }) => id),
      // @ts-expect-error: none was asked for
      async () => (await free.posts.list({ fields: [] })).items.map(({ title }) => title),
      async () => (await free.posts.list({})).items.map(({ title, slug }) => [title, slug]),
    );
  });

  it('know what custom fields can be filtered and sorted by', () => {
    interface Fields {
      slug: string;
      tags: string[];
      views: number;
      hot: boolean;
    }
    const { posts } = createClient<object, Fields>({ url: 'http://x' });
    compiled(
      () =>
        posts.list({ slug: { startsWith: 'a' }, tags: ['x', 'y'], views: { gte: 1 }, hot: true }),
      () => posts.list({ slug: { gt: 'a' }, tags: 'x', views: 1, sort: '-views' }),
      // @ts-expect-error: a number does not start with anything
      () => posts.list({ views: { startsWith: '1' } }),
      // @ts-expect-error: lists are not sorted by arrays
      () => posts.list({ sort: 'tags' }),
      // @ts-expect-error: an array has no bounds
      () => posts.list({ tags: { gte: 'x' } }),
    );
  });

  it('know the authors of a list, in the public view', () => {
    compiled(
      async () => {
        const { items, users } = await typed.posts.list({ include: 'author', title: 'A' });
        const [post] = items;
        const author = users.find(({ id }) => id === post?.authorId);
        const values: (number | string | null | undefined)[] = [author?.name, author?.email];
        const born: number | undefined = author?.born;
        // @ts-expect-error: the public view has not when a user was changed
        return [values, born, author?.updatedAt];
      },
      async () => {
        const { items } = await typed.posts.list({ include: 'author', fields: ['title'] });
        const authorIds = items.map(({ authorId, title }) => [authorId, title]);
        // @ts-expect-error: it was not asked for
        return [authorIds, items[0]?.slug];
      },
      // @ts-expect-error: there was no include
      async () => (await typed.posts.list({ title: 'A' })).users,
      // @ts-expect-error: users have no authors
      () => typed.users.list({ include: 'author' }),
      // @ts-expect-error: what is iterated over has posts alone
      () => typed.posts.all({ include: 'author' }),
      async () => {
        const seen: Versioned<PublicUser<{ born: number }>> = await typed.users.get('u');
        // @ts-expect-error: the public view need not have it
        const born: number = seen.record.born;
        return born;
      },
    );
  });

  it('know the user that the caller is', () => {
    compiled(
      async () => (await typed.me.save({ name: 'Ada', born: 1815 })).created satisfies boolean,
      // @ts-expect-error: the custom field is missing
      () => typed.me.save({ name: 'Ada' }),
      () => typed.me.patch({ home: null }, { ifMatch: 1 }),
      async () => (await typed.me.get()).record.born.toFixed(),
      () => typed.me.delete({ posts: 'delete' }),
      // @ts-expect-error: the caller is who it is
      () => typed.me.get('u'),
    );
  });

  it('know the options of each call', () => {
    compiled(
      () => free.users.create({ name: 'A' }, { idempotencyKey: 'k', signal: AbortSignal.abort() }),
      // @ts-expect-error: a new record has no version to match
      () => free.users.create({ name: 'A' }, { ifMatch: 1 }),
      () => free.users.delete('u', { posts: 'keep', ifMatch: '*' }),
      // @ts-expect-error: no such mode
      () => free.users.delete('u', { posts: 'forget' }),
      () => free.posts.delete('p', { ifMatch: 1 }),
      // @ts-expect-error: a post has no posts
      () => free.posts.delete('p', { posts: 'keep' }),
    );
  });

  it('fit the data providers, whatever the custom fields', () => {
    compiled(
      () => [reactAdminProvider(typed), reactAdminProvider(free)],
      () => [refineProvider(typed), refineProvider(free)],
      // @ts-expect-error: no client
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
      // @ts-expect-error: no such code
      () => (error: unknown) => isApiProblem(error, 'users-has-posts'),
    );
  });

  it("are the server's own types", () => {
    compiled((all: OwnTypes) => all satisfies Readonly<Record<string, true>>);
  });

  it('have every code of the contract', () => {
    // The compiler reads it: a code that the client does not know, or has alone, does not compile.
    const known: readonly ContractCode[] = Object.values(contractCodes).flat();
    const codes: readonly Exclude<AnyApiProblem['code'], ClientCode>[] = known;
    expect(codes satisfies readonly ContractCode[]).not.to.have.length(0);
  });
});

type ContractCode = (typeof contractCodes)[keyof typeof contractCodes][number];
type ClientCode = 'no-response' | 'unexpected-response';

type Custom = { born: number; home?: { city: string } };

/** True for two types that are the same to the compiler, to each `readonly` and `?`. */
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

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
  AnyUser: Equal<own.User, core.User>;
  AnyInput: Equal<own.PostInput, core.PostInput>;
};
