import { html, nothing } from 'lit-html';
import { authorInput, resolveUserId } from './control.ts';
import type { Declared, Kind } from './fields.ts';
import { reads, readsFullUsers, seesDrafts } from './rights.ts';
import { forms, names, session } from './session.ts';
import * as ui from './ui.ts';

/** The parameters in the URL of a list that are not the API's. No declared field can have such a name. */
export const own = { at: '.at', now: '.now', state: '.state' } as const;

/** The parameters of the API that a page's URL stands for. */
export function filterOf(query: URLSearchParams, now: string): object {
  const states: Record<string, object> = {
    published: { 'publishedAt[lte]': now },
    draft: { publishedAt: 'null' },
    scheduled: { 'publishedAt[gt]': now },
  };
  const isOurs = (name: string) => name === 'sort' || name.startsWith('.');
  const names = [...new Set(query.keys())].filter((name) => !isOurs(name));
  const found = Object.fromEntries(names.map((name) => [name, query.getAll(name)]));
  const author = query.get('authorId') === 'none' && { authorId: '' };
  return { ...found, ...author, ...states[query.get(own.state) ?? ''] };
}

/** Searches a list by the beginning, and filters it: each is a part of the page's URL. */
export function filters(kind: Kind, query: URLSearchParams, view: ui.View) {
  const { declared } = forms[kind];
  const isUsers = kind === 'users';
  const starts = `${ui.words[kind].title}[startsWith]`;
  const given = (name: string) => query.get(name) ?? '';
  const whose = given('authorId');
  const filtered = [...query.keys()].filter((name) => !['sort', own.at, own.now].includes(name));
  const isFiltered = filtered.length > 0;
  /** The choices of the author filter other than users. */
  const someAuthors = new Map([['none', 'Nobody']]);
  if (session.subject !== null) someAuthors.set('me', 'Mine');
  /** The text in the author filter, and its error. */
  let author = { text: whose, error: '' };

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const next = new URLSearchParams(given('sort') && { sort: given('sort') });
    for (const [name, value] of form) {
      if (String(value).trim()) next.append(name, String(value).trim());
    }
    const text = author.text.trim();
    const id = text && (await authorOf(text));
    if (id === undefined) {
      author = { text, error: 'Choose a user from the list.' };
      ui.page.refresh();
      return ui.focus('#author');
    }
    if (id !== '') next.set('authorId', id);
    if (!view.isLeft) location.hash = ui.href(kind, next);
  }

  /** Returns undefined for a text that does not mean one user. */
  async function authorOf(text: string): Promise<string | undefined> {
    const isText = (one: string) => one.toLowerCase() === text.toLowerCase();
    const [choice] = [...someAuthors].find((one) => one.some(isText)) ?? [];
    if (choice !== undefined) return choice;
    const id = await resolveUserId(text);
    return names.has(id) || !reads('users') ? id : undefined;
  }

  const input = (name: string, label: string, value = given(name)) =>
    html`<label>${label} <input name=${name} .value=${value}></label>`;

  const select = (name: string, label: string, all: ui.Choices) =>
    html`<label>${label} <select name=${name}>${ui.options(given(name), [['', 'Any'], ...all])}</select></label>`;

  function ofField({ name, label, type, choices }: Declared): unknown {
    const all = type === 'boolean' ? [true, false] : choices;
    // One more text than there are: records have all of them.
    if (type === 'array')
      return [...query.getAll(name), ''].map((one, n) =>
        input(name, n === 0 ? `${label} contain` : 'and', one),
      );
    if (all.length > 0)
      return select(
        name,
        label,
        all.map((one) => [String(one), ui.wordOf(one)] as const),
      );
    if (type === 'number')
      return [input(`${name}[gte]`, `${label} from`), input(`${name}[lte]`, `${label} to`)];
    return input(`${name}[startsWith]`, `${label} starts with`);
  }

  function ofAuthor(): ui.Html {
    const { text, error } = author;
    const set = (text: string) => {
      author = { text, error: '' };
      ui.page.refresh();
    };
    const about = error === '' ? nothing : 'author-error';
    const invalid = error === '' ? 'false' : 'true';
    return html`<div><label for="author">Author</label>${authorInput({ id: 'author', about, invalid, text, set, more: someAuthors })}
      ${error && html`<p class="error" id="author-error">${error}</p>`}</div>`;
  }

  function offered(): readonly unknown[] {
    const custom = declared.map(ofField);
    if (isUsers)
      return readsFullUsers()
        ? [input('email[startsWith]', 'Email address starts with'), ...custom]
        : [];
    const drafts = (seesDrafts() || whose === 'me') && { draft: 'Drafts', scheduled: 'Scheduled' };
    const states = Object.entries({ published: 'Published', ...drafts });
    return [select(own.state, 'Publication', states), ofAuthor(), ...custom];
  }

  function show(): ui.Html {
    const all = offered();
    const isOpen = author.error !== '' || filtered.some((name) => name !== starts);
    const more = html`<details ?open=${isOpen}><summary>Filters</summary><div class="fields">${all}</div></details>`;
    return html`<form class="search" role="search" @submit=${submit} autocomplete="off">
      <label class="grow">${isUsers ? 'Name' : 'Title'} starts with
        <input name=${starts} type="search" .value=${given(starts)}></label>
      ${all.length > 0 ? more : ''} <button>Search</button>${isFiltered ? html`<a href=${ui.href(kind)}>Clear</a>` : ''}</form>`;
  }

  return { isFiltered, show };
}
