import { createClient, type Events, type ListPage, type Versioned } from 'rostrum-client';
import type { Description } from './description.ts';
import { type Form, formsOf, type Item, type Kind } from './fields.ts';

/** The client's resource, with any field and any filter: a form has what the schema says. */
interface Resource {
  create(input: object, options: { idempotencyKey: string }): Promise<Versioned<Item>>;
  get(id: string): Promise<Versioned<Item>>;
  list(query: object): Promise<ListPage<Item>>;
  all(query: object): AsyncIterable<Item>;
  replace(id: string, input: object, options: { ifMatch: number }): Promise<Versioned<Item>>;
  delete(id: string, options: object): Promise<void>;
}

/** The caller of this tab. The page offers only what its scopes allow. */
export interface Session extends Record<Kind, Resource> {
  /** Null for a request without credentials. */
  readonly name: string | null;
  /** The name of the key. */
  readonly label?: string;
  readonly scopes: readonly string[];
  readonly subject: string | null;
  /** True if the server accepts credentials. */
  readonly acceptsCredentials: boolean;
  readonly events: Events;
  /** The caller's own user. */
  readonly me: { save(input: object, options: { ifNoneMatch: '*' }): Promise<Versioned<Item>> };
  /** True if the caller has one of these scopes. */
  has(...scopes: readonly string[]): boolean;
}

/** The path of the server: the page lies at `admin` below it. */
const site = new URL('.', location.href).pathname.replace(/\/$/, '');
const storage = 'rostrum.token';

let description: Description | undefined;
export let session: Session;
export let forms: Readonly<Record<Kind, Form>>;
/** The names of users that this session has read, by id. */
export const names = new Map<string, string>();

/** Kept for the tab alone. */
export const keptToken = () => sessionStorage.getItem(storage) ?? '';

/** The server does not know the credentials, or asks for some. */
export class SignedOut extends Error {}

/** @throws SignedOut */
export async function openSession(token: string): Promise<void> {
  names.clear();
  if (token === '') sessionStorage.removeItem(storage);
  if (!/^[!-~]*$/.test(token))
    throw new SignedOut('A key has no spaces, and no signs but those of ASCII.');
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` };
  const caller = await ask('/admin/caller', headers);
  if (token !== '') sessionStorage.setItem(storage, token);
  if (token === '' && caller.scopes.length === 0) throw new SignedOut();
  description ??= (await ask('/openapi.json')) as Description;
  forms ??= formsOf(description);
  const [server] = description.servers;
  const url = new URL(server?.url ?? '', location.href).href;
  const client = createClient({ url, ...(token !== '' && { token }) });
  const has = (...all: readonly string[]) => all.some((scope) => caller.scopes.includes(scope));
  session = { ...caller, ...(client as unknown as Pick<Session, Kind | 'events' | 'me'>), has };
}

/** Learns the name of the caller's own user, if there is one. */
export async function learnOwnName(): Promise<void> {
  const asked = session;
  const { subject, users } = asked;
  if (subject === null || !asked.has('users:read', 'users:read:public', 'users:write:own')) return;
  const own = await users.get(subject).catch(() => undefined);
  if (own !== undefined && session === asked) names.set(subject, String(own.record.name));
}

/** Whom the page shows as signed in. */
export function signedInAs(): string | null {
  const { subject, name, label } = session;
  return (subject !== null && names.get(subject)) || (label ?? name);
}

async function ask(path: string, headers = {}) {
  const response = await fetch(site + path, { headers, cache: 'no-cache' }).catch(() => undefined);
  const body = await response?.json().catch(() => undefined);
  if (response?.status === 401) throw new SignedOut(body?.error);
  if (!response?.ok || !body)
    throw new Error(body?.error ?? 'No response arrived from the server.');
  return body;
}

/** Learns the names of those users that a query finds. */
export async function learnNames(query: object): Promise<readonly Item[]> {
  const asked = session;
  const { items } = await session.users.list({ ...query, fields: ['name'] });
  if (session === asked) for (const { id, name } of items) names.set(id, String(name));
  return items;
}
