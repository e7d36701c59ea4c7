import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { ListPage, RecordEvent } from 'rostrum-client';
import type { Field, Item, Kind } from './fields.ts';
import { creates, reads, seesDrafts, seesWhole } from './rights.ts';
import { forms, learnNames, names, session } from './session.ts';
import * as ui from './ui.ts';

const pageSize = 25;

type Column = Pick<Field, 'name' | 'label'> & { readonly isSorted?: boolean };

const authorOf = ({ authorId }: Item) => String(authorId ?? '');

/** A table of users or of posts, as the query in the page's URL says it. */
export function list(kind: Kind, query: URLSearchParams): ui.View {
  const { one, many, heading, title } = ui.words[kind];
  const isUsers = kind === 'users';
  const { fields, filters } = forms[kind];
  const given = (name: string) => query.get(name) ?? '';
  const sort = given('sort') || (isUsers || seesDrafts() ? '-createdAt' : '-publishedAt');
  const cursors = query.getAll('at');
  const isFiltered = [...query.keys()].some((name) => name !== 'at' && name !== 'sort');
  const whose = given('authorId');
  const begins = `${title}[startsWith]`;
  const isOfOne = !['', 'none', 'me'].includes(whose);
  const filter = filterOf();
  let page: ListPage<Item> | undefined;
  let total: number | undefined;
  let error = '';
  let isStale = false;
  let loaded = load();
  ui.lists.set(kind, location.hash);

  function filterOf(): object {
    const now = new Date().toISOString();
    const states: Record<string, object> = {
      published: { 'publishedAt[lte]': now },
      draft: { publishedAt: 'null' },
      scheduled: { 'publishedAt[gt]': now },
    };
    const { at: _at, sort: _sort, state = '', ...found } = Object.fromEntries(query);
    return { ...found, ...(whose === 'none' && { authorId: '' }), ...states[state] };
  }

  async function load(): Promise<void> {
    const counting = session[kind].list({ ...filter, count: 'exact', limit: 1, fields: ['id'] });
    counting.catch(() => {}); // It is waited for later.
    try {
      const at = { sort, limit: pageSize, cursor: cursors.at(-1) ?? null };
      [page, error] = [await session[kind].list({ ...filter, ...at }), ''];
      ui.page.refresh();
      const authors = new Set([...page.items.map(authorOf), isOfOne ? whose : '']);
      const unmet = [...authors].filter((id) => id !== '' && !names.has(id));
      // Without their names, authors have their ids.
      if (unmet.length > 0 && reads('users')) await learnNames({ id: unmet }).catch(() => {});
      ui.page.refresh();
      ({ total } = await counting);
    } catch (cause) {
      error = ui.sentenceOf(cause, view);
    }
    ui.page.refresh();
  }

  /** On a phone the first two are shown. */
  function columns(): readonly Column[] {
    const sorted = (name: string, label: string) => ({ name, label, isSorted: true });
    const isShort = ({ name, control }: Field) => control !== 'json' && filters.includes(name);
    const more = fields.filter(isShort).slice(0, 2);
    const [created, changed] = [sorted('createdAt', 'Created'), sorted('updatedAt', 'Changed')];
    const first = sorted(title, isUsers ? 'Name' : 'Title');
    if (isUsers && !seesWhole()) return [first, created, ...more];
    if (isUsers) return [first, sorted('email', 'Email address'), ...more, created, changed];
    const author = { name: 'authorId', label: 'Author' };
    return [first, sorted('publishedAt', 'Publication'), author, ...more, changed];
  }

  function cell(name: string, item: Item): ui.Html {
    const value = item[name];
    if (name === title) return html`<a href=${ui.hrefOf(kind, item.id)}>${value}</a>`;
    if (name === 'publishedAt') return ui.publication(value);
    if (name === 'createdAt' || name === 'updatedAt') return ui.time(value);
    if (name !== 'authorId' || typeof value !== 'string') return String(value ?? '');
    const text = names.get(value) ?? value;
    return reads('users') ? html`<a href=${ui.hrefOf('users', value)}>${text}</a>` : text;
  }

  /** The same list with another sort, or at another page. */
  function place(changes: Readonly<Record<string, string>>, at: readonly string[] = []): string {
    const next = new URLSearchParams({ ...Object.fromEntries(query), ...changes });
    next.delete('at');
    for (const cursor of at) next.append('at', cursor);
    return ui.href(kind, next);
  }

  function head({ name, label, isSorted }: Column): ui.Html {
    const isUp = sort === name;
    const order = isUp ? 'ascending' : sort === `-${name}` ? 'descending' : nothing;
    const arrow = isUp ? '↑' : order === nothing ? '' : '↓';
    const link = html`<a class="sort" href=${place({ sort: isUp ? `-${name}` : name })}
      >${label} <span aria-hidden="true">${arrow}</span></a>`;
    return html`<th scope="col" aria-sort=${order}>${isSorted ? link : label}</th>`;
  }

  function table({ items, next }: ListPage<Item>): ui.Html {
    const none = isFiltered ? `No ${many} match.` : `There are no ${many} yet.`;
    if (items.length === 0) return html`<p class="empty">${none}</p>`;
    const [first, ...rest] = columns();
    const row = (item: Item) => html`<tr><th scope="row">${cell(first?.name ?? '', item)}</th>
      ${rest.map(({ name }) => html`<td>${cell(name, item)}</td>`)}</tr>`;
    const turn = (text: string, rel: string, at: readonly string[]) =>
      html`<a class="button" rel=${rel} href=${place({}, at)}>${text}</a>`;
    return html`<table><thead><tr>${columns().map(head)}</tr></thead><tbody>${repeat(items, ({ id }) => id, row)}</tbody></table>
      <nav class="pages" aria-label="Pages of the list">
      ${cursors.length > 0 ? turn('← Back', 'prev', cursors.slice(0, -1)) : ''}
      <span class="soft">Page ${cursors.length + 1}</span>
      ${next === null ? '' : turn('Next →', 'next', [...cursors, next])}</nav>`;
  }

  function submit(event: Event): void {
    event.preventDefault();
    const next = new URLSearchParams(given('sort') && { sort: given('sort') });
    for (const [name, value] of new FormData(event.currentTarget as HTMLFormElement)) {
      if (String(value).trim()) next.set(name, String(value).trim());
    }
    location.hash = ui.href(kind, next);
  }

  /** Searches by the beginning, and filters: each is a part of the page's URL. */
  function search(): ui.Html {
    const text = (name: string, label: string) =>
      html`<label>${label} <input name=${name} .value=${given(name)}></label>`;
    const select = (name: string, label: string, all: ui.Choices, usual = 'Any') =>
      html`<label>${label} <select name=${name}>${ui.options(given(name), [['', usual], ...all])}</select></label>`;
    const drafts = (seesDrafts() || whose === 'me') && { draft: 'Drafts', scheduled: 'Scheduled' };
    const mine = session.subject === null ? [] : [['me', 'Mine'] as const];
    // Anybody else is found from their own page.
    const authors = new Set([...(isOfOne ? [whose] : []), ...(page?.items.map(authorOf) ?? [])]);
    const met = [...authors].filter(Boolean).map((id) => [id, names.get(id) ?? id] as const);
    const ofPosts = [
      select('state', 'Publication', Object.entries({ published: 'Published', ...drafts })),
      select('authorId', 'Author', [['none', 'Nobody'], ...mine, ...met]),
    ];
    const custom = filters.map((name) => {
      const { label = name, choices = [] } = fields.find((field) => field.name === name) ?? {};
      const all = choices.map((choice) => [String(choice), ui.wordOf(choice)] as const);
      return all.length > 0 ? select(name, label, all) : text(name, label);
    });
    const email = text('email[startsWith]', 'Email address begins with');
    const all = isUsers ? (seesWhole() ? [email, ...custom] : []) : [...ofPosts, ...custom];
    const isOpen = [...query.keys()].some((name) => ![begins, 'at', 'sort'].includes(name));
    const more = html`<details ?open=${isOpen}><summary>Filters</summary><div class="fields">${all}</div></details>`;
    return html`<form class="search" role="search" @submit=${submit} autocomplete="off">
      <label class="grow">${isUsers ? 'Name' : 'Title'} begins with
        <input name=${begins} type="search" .value=${given(begins)}></label>
      ${all.length > 0 ? more : ''} <button>Search</button>${isFiltered ? html`<a href=${ui.href(kind)}>Clear</a>` : ''}</form>`;
  }

  function show(): ui.Html {
    const path = ui.href(`new/${kind}`, isOfOne ? new URLSearchParams({ authorId: whose }) : '');
    const make = html`<a class="button primary" href=${path}>New ${one}</a>`;
    return html`<div class="bar"><h1 tabindex="-1">${heading}</h1>
      <span class="soft" id="count">${total === undefined ? '' : ui.countOf(total, kind)}</span>${creates(kind) ? make : ''}</div>
      ${search()} ${ui.alertOf(error)}
      ${page ? table(page) : error ? ui.button('Try again', () => reload(0)) : html`<p class="soft">Loading…</p>`}`;
  }

  /** Where very much changes, the list is read anew once a second. */
  function follow(events: readonly RecordEvent[]): void {
    if (events.some(({ type }) => type.startsWith(`${one}.`))) void reload(1000);
  }

  async function reload(delayMs: number): Promise<void> {
    if (isStale) return;
    isStale = true;
    await Promise.all([loaded, ui.wait(delayMs)]);
    isStale = false;
    if (!view.isLeft) loaded = load();
  }

  const view: ui.View = { title: () => heading, show, follow };
  return view;
}
