import type { Scope } from '../../../../src/index.ts';

/** One scope, or two that are sufficient together. */
type Enough = Scope | `${Scope} + ${Scope}`;

/** The outcomes of a request, with the scopes sufficient for each. The first match counts. */
interface Outcomes {
  /** The request succeeds; a read returns the full record. */
  readonly done?: readonly Enough[];
  /** A read returns the public view. */
  readonly public?: readonly Enough[];
  /** The response is 404, or the record is left out of a list and its count. */
  readonly hidden?: readonly Enough[];
}

/** The owner of the record: the caller, another user, or nobody. `me` is the caller, addressed as `me`. */
export type Owner = 'me' | 'caller' | 'another' | 'nobody';

export interface Right extends Outcomes {
  readonly request: string;
  /** The record that the request is about. */
  readonly of: string;
  readonly owner: Owner;
  /** The post's `publishedAt`. Defaults to now. */
  readonly publishedAt?: string | null;
  /** The author in the request body. */
  readonly authorId?: Owner;
}

const reader: Outcomes = { done: ['users:read'], public: ['users:read:public'] };
const itself: Outcomes = { ...reader, done: ['users:read', 'users:write:own'] };
const anyUser: Outcomes = { done: ['users:write'] };
const ownUser: Outcomes = { done: ['users:write', 'users:write:own'] };

const anyPost: Outcomes = { done: ['posts:write'] };
const ownPost: Outcomes = { done: ['posts:write', 'posts:write:own'] };
const postReader: Outcomes = { done: ['posts:read', 'posts:read:all'] };
const seesAll: Outcomes = {
  done: ['posts:read:all', 'posts:read + posts:write'],
  hidden: ['posts:read'],
};
const unseen: Outcomes = { ...anyPost, hidden: ['posts:read + posts:write:own'] };

const draft = { publishedAt: null };
const scheduled = { publishedAt: '2099-01-01T00:00:00.000Z' };
const me = { of: "the caller's own user", owner: 'me' } as const;
const caller = { of: "the caller's own user", owner: 'caller' } as const;
const another = { of: 'another user', owner: 'another' } as const;
const ownPublic = { of: "the caller's post", owner: 'caller' } as const;
const ownDraft = { of: "the caller's draft", owner: 'caller', ...draft } as const;
const othersPublic = { of: "someone else's post", owner: 'another' } as const;
const othersDraft = { of: "someone else's draft", owner: 'another', ...draft } as const;
const othersScheduled = {
  of: "someone else's scheduled post",
  owner: 'another',
  ...scheduled,
} as const;
const freeDraft = { of: 'a draft without an author', owner: 'nobody', ...draft } as const;

/**
 * What callers are allowed to do. docs/security.md has this table, and a test checks every cell against the
 * server, for every pair of scopes.
 */
export const rights: readonly Right[] = [
  { request: 'GET /users', ...another, ...reader },
  { request: 'GET /users?email=…', ...another, done: ['users:read'] },
  { request: 'GET /users?sort=updatedAt', ...another, done: ['users:read'] },
  { request: 'GET /users/:id', ...another, ...reader },
  { request: 'GET /users/:id', ...caller, ...itself },
  { request: 'GET /users/me', ...me, ...itself },
  { request: 'POST /users', of: 'a new user', owner: 'nobody', ...anyUser },
  ...['PUT', 'PATCH', 'DELETE'].flatMap((method): Right[] => [
    { request: `${method} /users/:id`, ...another, ...anyUser },
    { request: `${method} /users/:id`, ...caller, ...ownUser },
    { request: `${method} /users/me`, ...me, ...ownUser },
  ]),
  {
    request: 'PUT /users/me',
    of: "the caller's own user, not created yet",
    owner: 'me',
    ...ownUser,
  },
  { request: 'DELETE /users/:id?posts=delete', ...another, done: ['users:write + posts:write'] },
  {
    ...{ request: 'DELETE /users/me?posts=delete', ...me },
    done: [
      ...(['users:write + posts:write', 'users:write + posts:write:own'] as const),
      ...(['users:write:own + posts:write', 'users:write:own + posts:write:own'] as const),
    ],
  },
  { request: 'GET /posts', ...othersPublic, ...postReader },
  { request: 'GET /posts', ...othersDraft, ...seesAll },
  { request: 'GET /posts', ...othersScheduled, ...seesAll },
  { request: 'GET /posts', ...ownDraft, ...seesAll },
  { request: 'GET /posts?authorId=me', ...ownDraft, owner: 'me', ...postReader },
  { request: 'GET /posts?authorId=…', ...othersDraft, ...seesAll },
  { request: 'GET /posts?publishedAt=null', ...freeDraft, ...seesAll },
  {
    ...{ request: 'GET /posts?include=author', of: "a post's author", owner: 'another' },
    public: ['posts:read', 'posts:read:all'],
  },
  { request: 'GET /posts/:id', ...othersPublic, ...postReader },
  { request: 'GET /posts/:id', ...othersDraft, ...seesAll },
  { request: 'GET /posts/:id', ...othersScheduled, ...seesAll },
  { request: 'GET /posts/:id', ...freeDraft, ...seesAll },
  { request: 'GET /posts/:id', ...ownDraft, ...postReader },
  { request: 'POST /posts', of: "the caller's post", owner: 'caller', ...ownPost },
  { request: 'POST /posts', of: "someone else's post", owner: 'another', ...anyPost },
  { request: 'POST /posts', of: 'a post without an author', owner: 'nobody', ...anyPost },
  ...['PUT', 'PATCH', 'DELETE'].flatMap((method): Right[] => [
    { request: `${method} /posts/:id`, ...ownPublic, ...ownPost },
    { request: `${method} /posts/:id`, ...ownDraft, ...ownPost },
    { request: `${method} /posts/:id`, ...othersPublic, ...anyPost },
    { request: `${method} /posts/:id`, ...othersDraft, ...unseen },
    { request: `${method} /posts/:id`, ...freeDraft, ...unseen },
  ]),
  {
    ...{
      request: 'PATCH /posts/:id',
      of: "the caller's post, given to someone else",
      owner: 'caller',
    },
    ...{ authorId: 'another', ...anyPost },
  },
  {
    ...{
      request: 'PATCH /posts/:id',
      of: "someone else's post, taken by the caller",
      owner: 'another',
    },
    ...{ authorId: 'caller', ...anyPost },
  },
];

/** Splits each sufficient set into its scopes. */
export function setsOf(enough: readonly Enough[] = []): readonly (readonly Scope[])[] {
  return enough.map((set) => set.split(' + ') as Scope[]);
}

/** Returns the table for docs/security.md. Rows with the same scopes are merged. */
export function rightsTable(): string {
  const inWords = (sets: readonly Enough[] = []) =>
    sets
      .map((set) =>
        set
          .split(' + ')
          .map((one) => `\`${one}\``)
          .join(' and '),
      )
      .join(', ');
  const cells = rights.map(({ request, of, done, public: shown, hidden, owner: _, ...right }) => {
    const isList = request.startsWith('GET /posts') && !request.includes(':id');
    const allowed = [
      ...(done ? [inWords(done)] : []),
      ...(shown ? [`${inWords(shown)}: the public view`] : []),
    ];
    const otherwise = hidden
      ? `${inWords(hidden)}: ${isList ? 'left out' : '404'}; else 403`
      : '403';
    return { request, of, ends: `${allowed.join('; ')} | ${otherwise}`, ...right };
  });
  const groups = Map.groupBy(cells, ({ of, ends }) => `${of} | ${ends}`);
  const lines = [...groups].map(([key, of]) => {
    const requests = [...new Set(of.map(({ request }) => `\`${request}\``))].join(', ');
    return `| ${requests} | ${key} |`;
  });
  return [
    '| Request | About | Scopes: one of these is enough | Otherwise |',
    '|---|---|---|---|',
    ...lines,
  ].join('\n');
}
