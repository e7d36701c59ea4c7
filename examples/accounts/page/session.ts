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
  const message = /^(INVALID_TOKEN|TOKEN_EXPIRED)$/.test(answer?.code)
    ? 'This link has expired, or was used already. Ask for another one.'
    : (answer?.message ?? 'The server could not sign you in.');
  throw Object.assign(new Error(message), { status: response.status, code: answer?.code });
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

/** Tells the other windows that someone has signed in or out. */
const windows = new BroadcastChannel('account');
windows.onmessage = () => loadSession().catch(() => {});

type Fields = Readonly<Record<string, string>>;

export const signUp = (fields: Fields) => ask('/sign-up/email', fields);

/** Signs in. If the address is not confirmed, sends another link. */
export async function signIn(credentials: Fields): Promise<void> {
  await ask('/sign-in/email', credentials).catch(async (error) => {
    if (error.code !== 'EMAIL_NOT_VERIFIED') throw error;
    await ask('/send-verification-email', { email: credentials.email });
    throw new Error('Confirm your address first. We have sent you another link.');
  });
  windows.postMessage('in');
}

/** Confirms an address with the token of a mail, and the password. One of them alone is not enough. */
export async function verify(token: string, credentials: Fields): Promise<void> {
  await ask('/sign-in/email', credentials).catch(async (error) => {
    if (error.code !== 'EMAIL_NOT_VERIFIED') throw error;
    await ask(`/verify-email?${new URLSearchParams({ token })}`);
  });
  await signIn(credentials);
}

export const askForReset = (fields: Fields) => ask('/request-password-reset', fields);
export const reset = (token: string, newPassword: string) =>
  ask('/reset-password', { token, newPassword });

export async function signOut(): Promise<void> {
  await ask('/sign-out', {});
  windows.postMessage('out');
}

/** Deletes the account and its user, with or without their posts. */
export async function deleteAccount(posts: 'keep' | 'delete', password: string): Promise<void> {
  await ask(`/delete-user?posts=${posts}`, { password });
  windows.postMessage('out');
}

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
    const { account: owner, exp, iat } = payloadOf(text);
    // Somebody else has signed in in another window.
    if (owner !== id) throw Object.assign(new Error(), { status: 401 });
    // Not until `exp`, because the clocks of the server and of this machine differ.
    return { text, until: Date.now() + (exp - iat) * 1000 - early };
  } catch (error) {
    current = undefined;
    throw error;
  }
}

/** Returns what a token says; an empty object if it is not a token. */
export function payloadOf(token: string) {
  try {
    const payload = token.split('.')[1] ?? '';
    return JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return {};
  }
}
