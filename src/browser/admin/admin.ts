import { html, render, type TemplateResult } from 'lit-html';
import { type Form, readForms } from './fields.ts';
import { List } from './list.ts';
import { alertOf, focus, href, notice, onChange, refresh, sentenceOf, type View } from './page.ts';
import { RecordView } from './record.ts';
import { type Kind, keep, Session } from './session.ts';

const root = document.querySelector<HTMLElement>('#admin');
let session: Session | undefined;
let forms: Record<Kind, Form> | undefined;
let view: View | undefined;
/** Why somebody has to sign in, or why the page cannot be shown. */
let error = '';
let isLoading = true;
let isSigningIn = false;
let opened = location.hash;

/** Opens what the URL names. */
async function open(): Promise<void> {
  if (session === undefined || forms === undefined) return;
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const query = new URLSearchParams(search);
  const [kind = '', id = ''] = path.split('/');
  const at = location.hash;
  try {
    view = undefined;
    error = '';
    if (kind !== 'users' && kind !== 'posts') return start(session);
    if (id === '') view = new List(session, kind, forms[kind], { query });
    else if (id === 'new')
      view = RecordView.make(session, kind, forms, query.get('authorId') ?? '');
    else {
      const found = await RecordView.open(session, kind, forms, decodeURIComponent(id));
      if (at === location.hash) view = found;
    }
    if (at === location.hash) focus('h1');
  } catch (cause) {
    if (at === location.hash) error = sentenceOf(cause);
  } finally {
    refresh();
  }
}

/** Leads to the first thing that this caller may do. */
function start(asked: Session): void {
  const [first] = placesOf(asked);
  if (first === undefined) error = 'These credentials allow nothing that this page has.';
  else location.replace(first.path);
}

function placesOf(asked: Session): { readonly path: string; readonly name: string }[] {
  const { ownUser } = asked;
  return [
    ...(asked.reads('users') ? [{ path: href('users'), name: 'Users' }] : []),
    ...(asked.reads('posts') ? [{ path: href('posts'), name: 'Posts' }] : []),
    ...(asked.hasOwnDrafts ? [{ path: href('posts', 'authorId=me'), name: 'My posts' }] : []),
    ...(ownUser
      ? [{ path: href(`users/${encodeURIComponent(ownUser)}`), name: 'My account' }]
      : []),
    ...(asked.creates('users') && !asked.reads('users')
      ? [{ path: href('users/new'), name: 'New user' }]
      : []),
    ...(asked.creates('posts') && !asked.reads('posts')
      ? [{ path: href('posts/new'), name: 'New post' }]
      : []),
  ];
}

async function begin(): Promise<void> {
  isLoading = true;
  error = '';
  session = undefined;
  view = undefined;
  refresh();
  try {
    [session, forms] = await Promise.all([Session.open(), forms ?? readForms()]);
    isSigningIn = false;
    void follow(session);
  } catch (cause) {
    error = sentenceOf(cause);
    isSigningIn = true;
  }
  isLoading = false;
  refresh();
  if (isSigningIn) focus('#key');
  else await open();
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

function signIn(event: Event): void {
  event.preventDefault();
  const key = new FormData(event.currentTarget as HTMLFormElement).get('key');
  keep(String(key).trim());
  void begin();
}

function signOut(): void {
  keep('');
  history.replaceState(null, '', '#');
  void begin();
}

function signInForm(): TemplateResult {
  return html`<section class="sign-in"><h1 tabindex="-1">Sign in</h1>
    <p class="soft">By a key that <code>rostrum key create</code> made, or an access token of the identity
      provider. It is kept for this tab alone.</p>
    ${alertOf(error)}
    <form @submit=${signIn} autocomplete="off"><div class="field"><label for="key">Key or token</label>
    <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false"></div>
    <button class="primary">Sign in</button></form></section>`;
}

function bar(asked: Session): TemplateResult {
  const { name, asks } = asked.caller;
  const [, kind = ''] = location.hash.split(/[/?]/);
  const places = placesOf(asked);
  const at = places.find(({ path }) => path === location.hash)?.path ?? href(kind);
  const ask = () => {
    isSigningIn = true;
    refresh();
    focus('#key');
  };
  const who =
    name === null ? (asks ? 'Not signed in' : 'This server asks for no credentials') : name;
  const button =
    name === null
      ? asks
        ? html`<button type="button" @click=${ask}>Sign in</button>`
        : ''
      : html`<button type="button" @click=${signOut}>Sign out</button>`;
  return html`<div class="tabs"><nav aria-label="Records">${places.map(
    ({ path, name: text }) =>
      html`<a href=${path} aria-current=${path === at ? 'page' : 'false'}>${text}</a>`,
  )}</nav><p class="who"><span class="soft">${who}</span> ${button}</p></div>`;
}

function draw(): void {
  if (root === null) return;
  const shown = isSigningIn
    ? signInForm()
    : html`${session ? bar(session) : ''}
      ${view?.show() ?? html`<h1 tabindex="-1">${error ? 'Not found' : 'Admin'}</h1>${error ? alertOf(error) : html`<p class="soft">Loading…</p>`}`}`;
  const title = isSigningIn ? 'Sign in' : (view?.title ?? 'Admin');
  document.title = `${title} · Rostrum`;
  root.setAttribute('aria-busy', String(isLoading));
  render(
    html`${shown}<p role="status" class=${notice ? 'notice shown' : 'notice'}>${notice}</p>`,
    root,
  );
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
