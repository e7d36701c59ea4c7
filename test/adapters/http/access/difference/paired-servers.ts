import type { JsonObject } from '../../../../../src/domain/records/json.ts';
import { type Around, createRostrum, type Rostrum, type Scope } from '../../../../../src/index.ts';
import type { Store } from '../../../../../src/ports/store.ts';
import type { OpenStore } from '../../../../support/stores.ts';
import { type Api, startApi } from '../../support/api.ts';
import { authenticate } from '../../support/callers.ts';

/** The scopes of requests without credentials. */
const anonymous: readonly Scope[] = ['posts:read', 'users:read:public'];

export const publicUserFields = ['city'];

/** Fixed, so that responses don't differ by the port of the server. */
const publicUrl = 'https://rostrum.example';

const declaredFields = {
  users: { city: 'text', secret: 'text', score: 'number' },
  posts: { slug: 'text' },
} as const;

const start = Date.UTC(2030, 0, 1);
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export const sizes = { users: 12, posts: 30 };

/** The user of one of the callers, which can see its own address and drafts. */
export const self = 'u-3';

/** A deliberate leak, to check that the test finds leaks. */
export type Leak = (store: Store, whole: Rostrum) => Around;

export interface PairedServer extends AsyncDisposable {
  readonly api: Api;
  readonly store: Store;
}

/**
 * Starts one of two servers. Everything that callers with few scopes can see is the same on both, including ids
 * and times. What they cannot see differs: email addresses, private custom fields, update times of users,
 * and drafts and their number.
 */
export async function startPairedServer(
  side: 0 | 1,
  open: OpenStore,
  clock: { now(): string },
  leak?: Leak,
): Promise<PairedServer> {
  const store = await open({ declaredFields });
  await store.ready();
  for (let n = 0; n < sizes.users; n++)
    await store.users.create({ ...userOf(n), ...hidden(n, side) });
  for (let n = 0; n < sizes.posts; n++) await store.posts.create(postOf(n));
  for (let n = 0; n < 7 + side * 6; n++) await store.posts.create(draftOf(n, side));
  let made = 0;
  const core = { clock, ids: { next: () => `new-${++made}` }, publicUserFields };
  const around = leak?.(store, createRostrum(store, core));
  const api = await startApi({
    ...{ store, core: { ...core, around }, app: { authenticate, anonymous, publicUrl } },
  });
  return { api, store, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

function userOf(n: number) {
  const times = { createdAt: at(n - 500), updatedAt: at(n - 500) };
  const city = ['Bonn', 'Kiel', 'Ulm'][n % 3] ?? '';
  return { id: `u-${n}`, ...times, name: `Name ${n % 5}`, email: null, city };
}

function hidden(n: number, side: number): JsonObject & { email: string | null } {
  if (`u-${n}` === self) return { email: 'self@x.org', secret: 'own' };
  const email = [
    `${(n * 7) % sizes.users}.a@x.org`,
    n % 4 === 0 ? null : `${(n * 5) % sizes.users}.b@x.org`,
  ][side];
  const secrets = { secret: ['red', 'blue'][(n + side) % 2] ?? '', score: n * (side + 1) };
  const updatedAt = at(n * (side === 0 ? 1 : -1) - 400);
  return { email: email ?? null, ...secrets, updatedAt, more: 'x'.repeat(side * n * 50) };
}

function postOf(n: number) {
  // Some posts become public during the test, at the same time on both servers.
  const publishedAt = at(n % 6 === 5 ? n * 20 : -300 + n);
  const times = { createdAt: at(n - 400), updatedAt: at(n - 400), publishedAt };
  const authorId = n % 4 === 0 ? null : `u-${n % sizes.users}`;
  const text = { title: `Title ${n % 7}`, body: 'Text', slug: `slug-${n % 3}` };
  const own = authorId === self && n % 2 === 1 ? { publishedAt: null } : {};
  return { id: `p-${n}`, ...times, ...text, authorId, ...own };
}

function draftOf(n: number, side: number) {
  const times = { createdAt: at(n - 350), updatedAt: at(n - 350 + side) };
  const publishedAt = n % 2 === 0 ? null : at(1e8 + n);
  const authorId = n % 5 === 0 ? null : `u-${n % 3}`;
  const text = { title: `Title ${(n + side) % 7}`, body: 'Hidden', slug: `slug-${side}` };
  return { id: `d-${n}`, ...times, ...text, authorId, publishedAt };
}
