import { html, render } from 'lit-html';
import { forms, readForms } from './fields.ts';
import { list } from './list.ts';
import {
  alertOf,
  focus,
  type Html,
  href,
  notice,
  onChange,
  refresh,
  sentenceOf,
  type View,
} from './page.ts';
import { record } from './record.ts';
import { creates, keep, openSession, reads, type Session, seesDrafts, session } from './session.ts';

const root = document.querySelector<HTMLElement>('#admin');
let view: View | undefined;
/** Why somebody has to sign in, or why nothing can be shown. */
let error = '';
let state: 'loading' | 'signed out' | 'open' = 'loading';
let opened = location.hash;

/** Opens what the URL names. */
async function open(): Promise<void> {
  const at = location.hash;
  const [path = '', search = ''] = at.replace(/^#\/?/, '').split('?');
  const [kind = '', id = ''] = path.split('/');
  const query = new URLSearchParams(search);
  [view, error] = [undefined, ''];
  try {
    if (kind !== 'users' && kind !== 'posts') return start();
    if (id === '') view = list(kind, query);
    else if (id === 'new') view = record(kind, undefined, query.get('authorId') ?? '');
    else {
      const found = await session[kind].get(decodeURIComponent(id));
      if (at === location.hash) view = record(kind, found);
    }
    focus('h1');
  } catch (cause) {
    if (at === location.hash) error = sentenceOf(cause);
  } finally {
    refresh();
  }
}

/** Leads to the first thing that this caller may do. */
function start(): void {
  const [first] = Object.keys(placesOf());
  if (first === undefined) error = 'These credentials allow nothing that this page has.';
  else location.replace(first);
}

/** Where this caller may go, by paths. */
function placesOf(): Readonly<Record<string, string>> {
  const { subject } = session;
  const account = subject !== null && (reads('users') || session.has('users:write:own'));
  return {
    ...(reads('users') && { [href('users')]: 'Users' }),
    ...(reads('posts') && { [href('posts')]: 'Posts' }),
    // A list of all posts has no drafts for those who see only their own.
    ...(reads('posts') &&
      !seesDrafts() &&
      subject && { [href('posts', 'authorId=me')]: 'My posts' }),
    ...(account && { [href(`users/${encodeURIComponent(subject)}`)]: 'My account' }),
    ...(creates('users') && !reads('users') && { [href('users/new')]: 'New user' }),
    ...(creates('posts') && !reads('posts') && { [href('posts/new')]: 'New post' }),
  };
}

async function begin(): Promise<void> {
  [state, error, view] = ['loading', '', undefined];
  refresh();
  try {
    await Promise.all([openSession(), forms ?? readForms()]);
    state = 'open';
    void follow(session);
    await open();
  } catch (cause) {
    error = sentenceOf(cause);
    askForKey();
  }
}

/** Shows what changes as it changes. Without a right to events, the page shows what it was opened on. */
async function follow(asked: Session): Promise<void> {
  try {
    for await (const { events } of asked.events.follow()) {
      if (session !== asked) return;
      if (events.length > 0) view?.follow?.(events);
    }
  } catch {}
}

function askForKey(): void {
  state = 'signed out';
  refresh();
  focus('#key');
}

function signIn(event: Event): void {
  event.preventDefault();
  keep(String(new FormData(event.currentTarget as HTMLFormElement).get('key')).trim());
  void begin();
}

function signOut(): void {
  keep('');
  history.replaceState(null, '', '#');
  void begin();
}

function signInForm(): Html {
  return html`<section class="sign-in"><h1 tabindex="-1">Sign in</h1>
    <p class="soft">By a key that <code>rostrum key create</code> made, or an access token of the identity
      provider. It is kept for this tab alone.</p>
    ${alertOf(error)}
    <form @submit=${signIn} autocomplete="off"><div class="field"><label for="key">Key or token</label>
    <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false"></div>
    <button class="primary">Sign in</button></form></section>`;
}

function bar(): Html {
  const { name, asks } = session;
  const places = Object.entries(placesOf());
  const [, kind = ''] = location.hash.split(/[/?]/);
  const at = places.find(([path]) => path === location.hash)?.[0] ?? href(kind);
  const who = name ?? (asks ? 'Not signed in' : 'This server asks for no credentials');
  const button = (text: string, click: () => void) =>
    html`<button type="button" @click=${click}>${text}</button>`;
  const change = name === null ? asks && button('Sign in', askForKey) : button('Sign out', signOut);
  return html`<div class="tabs"><nav aria-label="Records">${places.map(
    ([path, text]) =>
      html`<a href=${path} aria-current=${path === at ? 'page' : 'false'}>${text}</a>`,
  )}</nav><p class="who"><span class="soft">${who}</span> ${change || ''}</p></div>`;
}

function shown(): Html {
  if (state === 'signed out') return signInForm();
  if (view !== undefined) return html`${bar()}${view.show()}`;
  const text = error ? alertOf(error) : html`<p class="soft">Loading…</p>`;
  const title = html`<h1 tabindex="-1">${error ? 'Not found' : 'Admin'}</h1>`;
  return html`${state === 'open' ? bar() : ''}${title}${text}`;
}

function draw(): void {
  if (root === null) return;
  document.title = `${state === 'signed out' ? 'Sign in' : (view?.title ?? 'Admin')} · Rostrum`;
  root.setAttribute('aria-busy', String(state === 'loading'));
  const told = html`<p role="status" class=${notice ? 'notice shown' : 'notice'}>${notice}</p>`;
  render(html`${shown()}${told}`, root);
}

onChange(draw);
addEventListener('beforeunload', (event) => {
  if (view?.isChanged?.()) event.preventDefault();
});
addEventListener('hashchange', () => {
  if (view?.isChanged?.() && !confirm('Leave without saving?')) {
    history.replaceState(null, '', opened);
    return;
  }
  opened = location.hash;
  void open();
});
root?.replaceChildren();
void begin();
