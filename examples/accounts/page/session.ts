// Who is signed in, by better-auth's cookie, and tokens for Rostrum's API.

import { createClient, isApiProblem, type PostQuery, type RecordOf } from 'rostrum-client';
import type { declaredFields } from '../fields.ts';

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

export const api = createClient<typeof declaredFields>({ url: '/api/v1', token });

export type Post = RecordOf<typeof api.posts>;
export type Query = PostQuery<typeof declaredFields.posts>;

/** Tokens are renewed this many milliseconds before they expire. */
const early = 30_000;

/** The account that is signed in. */
export let account: Account | undefined;
/** The current token, or the request for it. */
let current: Promise<{ text: string; until: number }> | undefined;

/** Sends a request to better-auth; a body makes it a POST. */
async function ask(path: string, body?: object) {
  const headers = { 'Content-Type': 'application/json' };
  const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`/api/auth${path}`, init);
  const answer = await response.json();
  if (response.ok) return answer;
  const message = answer?.message ?? 'The server could not sign you in.';
  throw Object.assign(new Error(message), { status: response.status });
}

/** True if the person who is signed in has a user, too. */
let isLoaded = false;

/** Asks who is signed in. Sends the event `account` the first time, and when it is someone else than before. */
export async function loadSession(): Promise<void> {
  const found: Account | undefined = (await ask('/get-session'))?.user;
  if (isLoaded && found?.id === account?.id) return;
  isLoaded = false;
  account = found;
  current = undefined;
  if (account) await ownUser(account);
  isLoaded = true;
  dispatchEvent(new Event('account'));
}

type Credentials = Readonly<Record<string, string>>;

export const signIn = (credentials: Credentials) => ask('/sign-in/email', credentials);
export const signUp = (credentials: Credentials) => ask('/sign-up/email', credentials);
export const signOut = () => ask('/sign-out', {});

/** Returns the user of the account. Creates it the first time, and after it was deleted. */
export async function ownUser({ name }: Account) {
  try {
    return (await api.me.get()).record;
  } catch (error) {
    if (!isApiProblem(error, 'user-not-found')) throw error;
    return (await api.me.save({ name })).record;
  }
}

/** Returns a token that is not about to expire; undefined for a visitor. */
export async function token(): Promise<string | undefined> {
  if (account === undefined) return undefined;
  const last = current;
  if (last === undefined || (await last).until < Date.now()) {
    // Of several calls at the same time, the first one renews the token.
    if (current === last) current = renewed(account);
  }
  return (await current)?.text;
}

async function renewed({ id }: Account) {
  try {
    const { token: text } = await ask('/token');
    const payload = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    const { sub, exp, iat } = JSON.parse(atob(payload));
    // Somebody else has signed in in another window.
    if (sub !== id) throw Object.assign(new Error(), { status: 401 });
    // Not until `exp`, because the clocks of the server and of this machine differ.
    return { text, until: Date.now() + (exp - iat) * 1000 - early };
  } catch (error) {
    current = undefined;
    throw error;
  }
}
