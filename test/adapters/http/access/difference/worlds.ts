import type { JsonObject } from '../../../../../src/domain/json.ts';
import { type Around, createRostrum, type Rostrum, type Scope } from '../../../../../src/index.ts';
import type { Store } from '../../../../../src/ports/store.ts';
import type { OpenStore } from '../../../../support/stores.ts';
import { type Api, startApi } from '../../support/api.ts';
import { authenticate } from '../../support/callers.ts';

/** What requests without credentials may do. */
const anonymous: readonly Scope[] = ['posts:read', 'users:read:public'];

export const publicUserFields = ['city'];

/** Each server has a port of its own. */
const publicUrl = 'https://rostrum.example';

const customFilters = {
  users: { city: 'text', secret: 'text', score: 'number' },
  posts: { slug: 'text' },
} as const;

const start = Date.UTC(2030, 0, 1);
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

export const sizes = { users: 12, posts: 30 };

/** The user that one of the callers is; its own address and drafts are no secret to it. */
export const self = 'u-3';

/** What is wrong in a world, for a test of the test. */
export type Plant = (store: Store, whole: Rostrum) => Around;

export interface World extends AsyncDisposable {
  readonly api: Api;
  readonly store: Store;
}

/**
 * A world: all that weak callers see is the same in both, to the id and the time. What they do not see
 * differs: addresses, private custom fields, when users were changed, drafts and their number.
 */
export async function makeWorld(
  side: 0 | 1,
  open: OpenStore,
  clock: { now(): string },
  plant?: Plant,
): Promise<World> {
  const store = await open({ customFilters });
  await store.ready();
  for (let n = 0; n < sizes.users; n++)
    await store.users.create({ ...userOf(n), ...hidden(n, side) });
  for (let n = 0; n < sizes.posts; n++) await store.posts.create(postOf(n));
  for (let n = 0; n < 7 + side * 6; n++) await store.posts.create(draftOf(n, side));
  let made = 0;
  const core = { clock, ids: { next: () => `new-${++made}` }, publicUserFields };
  const around = plant?.(store, createRostrum(store, core));
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
  // Some become public while the requests are made: in both worlds alike.
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
