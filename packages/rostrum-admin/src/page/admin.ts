import { html, render } from 'lit-html';
import { isApiProblem, type Versioned } from 'rostrum-client';
import type { Item, Kind } from './fields.ts';
import { list } from './list.ts';
import { record } from './record.ts';
import { creates, createsItself, hasAllRightsOf, reads, seesDrafts, seesEvents } from './rights.ts';
import { keptToken, learnOwnName, openSession, SignedOut, session, signedInAs } from './session.ts';
import * as ui from './ui.ts';

const root = document.querySelector('#admin') as HTMLElement;
let view: ui.View | undefined;
/** Why nothing can be shown. */
let error = '';
/** Why somebody has to sign in. */
let why = '';
let state: 'loading' | 'signed out' | 'open' = 'loading';
/** The credentials that were entered last. */
let entered = keptToken();
let following = new AbortController();
/** How often something was opened: what comes late, after the next, is not shown. */
let openings = 0;
/** Forms that were left with something typed in them, by their URLs. */
const kept = new Map<string, ui.View>();
const hasTyped = () => [...kept.values(), view].some((one) => one?.isChanged?.());
const isOurs = ({ by }: ui.View) => by !== undefined && hasAllRightsOf(by);

/** Opens the view that the URL names, or the first one that this caller is allowed to use. */
async function open(): Promise<void> {
  const opening = ++openings;
  const at = location.hash;
  const [path = '', search = ''] = at.replace(/^#\/?/, '').split('?');
  const [first = '', second = ''] = path.split('/');
  const isNew = first === 'new';
  const kind = isNew ? second : first;
  const query = new URLSearchParams(search);
  leave();
  error = '';
  ui.page.refresh();
  try {
    const id = isNew ? '' : decodeURIComponent(second);
    if (kind !== 'users' && kind !== 'posts') {
      const [first] = places();
      if (first !== undefined) return location.replace(first[0]);
      throw new Error('Your credentials do not allow anything on this page.');
    }
    if (isNew ? !creates(kind) : id === '' && !reads(kind))
      throw new Error('Your credentials do not allow this.');
    const left = kept.get(at);
    if (left !== undefined && isOurs(left)) {
      kept.delete(at);
      view = left;
    } else {
      const stored = id === '' ? undefined : await read(kind, id);
      if (opening !== openings) return;
      const author = (isNew && query.get('authorId')) || '';
      view = id !== '' || isNew ? record(kind, { id, stored, author }) : list(kind, query);
    }
    Object.assign(view, { isLeft: false, at });
    ui.focus('h1');
  } catch (cause) {
    if (opening === openings) error = ui.sentenceOf(cause);
  } finally {
    ui.page.refresh();
  }
}

/** Returns a record; undefined for the caller's own user, if it can be created. */
async function read(kind: Kind, id: string): Promise<Versioned<Item> | undefined> {
  try {
    return await session[kind].get(id);
  } catch (cause) {
    const isOwn = kind === 'users' && id === session.subject && createsItself();
    if (isOwn && isApiProblem(cause, 'user-not-found')) return undefined;
    throw cause;
  }
}

function leave(): void {
  if (view) view.isLeft = true;
  if (view?.at !== undefined && view.isChanged?.()) {
    kept.set(view.at, view);
    if (isOurs(view))
      ui.notify('Your changes are not saved. They will be here when you come back.');
  }
  view = undefined;
}

/** The links in the header that this caller is allowed to follow. */
function places(): readonly (readonly [path: string, text: string])[] {
  const { subject } = session;
  const account = subject !== null && (reads('users') || session.has('users:write:own'));
  // A list of all posts has no drafts for those who see only their own.
  const mine = subject !== null && reads('posts') && !seesDrafts();
  const all: readonly (readonly [may: boolean, path: string, text: string])[] = [
    [reads('users'), ui.href('users'), 'Users'],
    [reads('posts'), ui.href('posts'), 'Posts'],
    [mine, ui.href('posts', 'authorId=me'), 'My posts'],
    [account, ui.hrefOf('users', subject ?? ''), 'My account'],
    [creates('users') && !reads('users'), ui.href('new/users'), 'New user'],
    [creates('posts') && !reads('posts'), ui.href('new/posts'), 'New post'],
  ];
  return all.flatMap(([may, path, text]) => (may ? [[path, text] as const] : []));
}

/** Opens a session, and what the URL names. */
async function begin(token: string): Promise<void> {
  [state, error, entered] = ['loading', '', token];
  following.abort();
  ui.page.refresh();
  try {
    await openSession(token);
    state = 'open';
    void learnOwnName().then(() => ui.page.refresh());
    following = new AbortController();
    if (seesEvents()) void follow(following.signal);
    await open();
  } catch (cause) {
    if (cause instanceof SignedOut) return askForKey(cause.message);
    error = ui.sentenceOf(cause);
    ui.page.refresh();
  }
}

/** Shows what changes as it changes. */
async function follow(signal: AbortSignal): Promise<void> {
  try {
    for await (const { events } of session.events.follow({}, { signal })) view?.follow(events);
  } catch (cause) {
    // The tab slept for so long that the server has forgotten what happened meanwhile.
    if (isApiProblem(cause, 'events-expired')) void begin(entered);
  }
}

function askForKey(reason = ''): void {
  [state, why] = ['signed out', reason];
  ui.page.refresh();
  ui.focus('#key');
}

function signIn(event: Event): void {
  event.preventDefault();
  void begin(String(new FormData(event.currentTarget as HTMLFormElement).get('key')).trim());
}

function signOut(): void | Promise<void> {
  leave();
  const ours = [...kept].filter(([, left]) => isOurs(left));
  if (ours.some(([, left]) => left.isChanged?.()) && !confirm('Sign out without saving?'))
    return open();
  for (const [at] of ours) kept.delete(at);
  ui.notify('');
  history.replaceState(null, '', '#');
  void begin('');
}

function signInForm(): ui.Html {
  const isAnonymous = session?.name === null && session.scopes.length > 0;
  return html`<section class="sign-in"><h1 tabindex="-1">Sign in</h1>
    <p class="soft">Use a key from <code>rostrum key create</code>, or an access token from your identity
      provider. Only this tab keeps it.</p>
    ${ui.alertOf(why)} ${hasTyped() ? html`<p>What you typed is still here.</p>` : ''}
    <form @submit=${signIn} autocomplete="off"><div class="field"><label for="key">Key or token</label>
    <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false"></div>
    <div class="bar"><button class="primary">Sign in</button> ${isAnonymous ? ui.button('Cancel', () => begin('')) : ''}</div></form></section>`;
}

function bar(): ui.Html {
  const { name, acceptsCredentials } = session;
  const [kind = ''] = /users|posts/.exec(location.hash) ?? [];
  const all = places();
  const at = all.find(([path]) => path === location.hash)?.[0] ?? ui.href(kind);
  const link = ([path, text]: readonly [string, string]) =>
    html`<a href=${path} aria-current=${path === at ? 'page' : 'false'}>${text}</a>`;
  const who =
    signedInAs() ?? (acceptsCredentials ? 'Not signed in' : 'This server requires no credentials');
  const change =
    name === null
      ? acceptsCredentials && ui.button('Sign in', () => askForKey())
      : ui.button('Sign out', signOut);
  return html`<div class="tabs"><nav aria-label="Records">${all.map(link)}</nav>
    <p class="who"><span class="soft">${who}</span> ${change || ''}</p></div>`;
}

function shown(): ui.Html {
  if (state === 'signed out') return signInForm();
  if (view !== undefined && state === 'open') return html`${bar()}${view.show()}`;
  const again = ui.button('Try again', () => begin(entered));
  const text = error ? html`${ui.alertOf(error)}${again}` : html`<p class="soft">Loading…</p>`;
  const title = html`<h1 tabindex="-1">${error ? 'This page cannot be shown' : 'Admin'}</h1>`;
  return html`${state === 'open' ? bar() : ''}${title}${text}`;
}

function draw(): void {
  document.title = `${state === 'signed out' ? 'Sign in' : (view?.title() ?? 'Admin')} · Rostrum`;
  root.setAttribute('aria-busy', String(state === 'loading' && error === ''));
  render(html`${shown()}${ui.showNotice()}`, root);
}

Object.assign(ui.page, { refresh: draw, askForKey });
addEventListener('beforeunload', (event) => {
  if (hasTyped()) event.preventDefault();
});
addEventListener('hashchange', () => state === 'open' && open());
void begin(entered);
