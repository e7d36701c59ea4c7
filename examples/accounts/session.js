// Who is signed in, by better-auth's cookie, and tokens for the API.

/** Tokens are renewed so many milliseconds before they end. */
const early = 30_000;

let isSignedIn = false;
/** The token that is there or on its way. */
let current;

/** Sends a request to better-auth; a body makes it a POST. */
async function ask(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const init = body && { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`/api/auth${path}`, init);
  const answer = await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(answer?.message), { status: response.status });
}

/** @returns the account that is signed in, if one is */
export async function session() {
  const found = await ask('/get-session');
  isSignedIn = found !== null;
  return found?.user;
}

export const signIn = (credentials) => ask('/sign-in/email', credentials);
export const signUp = (account) => ask('/sign-up/email', account);

export async function signOut() {
  await ask('/sign-out', {});
  isSignedIn = false;
  current = undefined;
}

/** A token that lasts; undefined for a visitor. Calls at the same time wait for the same one. */
export async function token() {
  if (!isSignedIn) return undefined;
  const last = current;
  if (last === undefined || (await last).until < Date.now()) {
    if (current === last) current = renewed();
  }
  return (await current).text;
}

async function renewed() {
  try {
    const { token: text } = await ask('/token');
    const payload = text.split('.')[1].replaceAll('-', '+').replaceAll('_', '/');
    const { exp, iat } = JSON.parse(atob(payload));
    // By how long it lasts, because clocks differ.
    return { text, until: Date.now() + (exp - iat) * 1000 - early };
  } catch (error) {
    current = undefined;
    if (error.status === 401) error.message = 'You are signed out.';
    throw error;
  }
}
