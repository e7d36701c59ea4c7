// The menu, and one view for each address after the #.

import { attempt, button, unsaved } from './actions.ts';
import { find, h, link } from './dom.ts';
import { exit, forgot, profile, reset, verify, visitor } from './people.ts';
import { all, drafts, isEditor, mine } from './posts.ts';
import { account, loadSession } from './session.ts';
import { edit, write } from './write.ts';

type View = (id: string) => Promise<Node[]>;
const viewsOf = (views: Record<string, View>) => new Map(Object.entries(views));

/** Views for everyone. */
const publicViews = viewsOf({ 'sign-in': visitor, verify, forgot, reset });
/** Views that need an account: a visitor gets the form to sign in. */
const ownViews = viewsOf({ '': mine, drafts, all, write, edit, profile });

let shown = 0;

async function show(): Promise<void> {
  const number = ++shown;
  unsaved.check = () => false;
  const path = location.hash.replace(/^#\/?/, '');
  const [name = '', id = ''] = path.split('/').map(decodeURIComponent);
  const own = ownViews.get(name);
  const view = publicViews.get(name) ?? (account ? own : own && visitor);
  const nodes = await (view?.(id) ?? [h('h1', {}, 'Page not found')]);
  // Another view has been asked for meanwhile.
  if (number !== shown) return;
  find('view').replaceChildren(...nodes);
  showMenu();
  const heading = find('view').querySelector('h1');
  document.title = `${heading?.textContent} · Dashboard`;
  Object.assign(heading ?? {}, { tabIndex: -1 });
  heading?.focus();
}

function showMenu(): void {
  const links = account
    ? [
        link('#/', 'My posts'),
        link('#/write', 'Write'),
        ...(isEditor() ? [link('#/drafts', 'Drafts')] : []),
        link('#/profile', 'Profile'),
        button('Sign out', exit),
      ]
    : [link('#/sign-in', 'Sign in')];
  for (const item of links) {
    const isHere = item instanceof HTMLAnchorElement && item.hash === (location.hash || '#/');
    if (isHere) item.setAttribute('aria-current', 'page');
  }
  find('menu').replaceChildren(...links);
}

addEventListener('hashchange', ({ oldURL }) => {
  if (unsaved.check() && !confirm('Leave without saving?')) history.replaceState(null, '', oldURL);
  else attempt(show);
});
addEventListener('beforeunload', (event) => {
  if (unsaved.check()) event.preventDefault();
});
addEventListener('account', () => {
  if (unsaved.check()) showMenu();
  else attempt(show);
});
// Someone may have signed in or out in another window.
addEventListener('focus', () => loadSession().catch(() => {}));

await attempt(loadSession);
