import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { ListPage, RecordEvent } from 'rostrum-client';
import { csvOf } from './csv.ts';
import type { Item, Kind } from './fields.ts';
import { filterOf, filters, own } from './filters.ts';
import { creates, reads, readsFullUsers, seesDrafts } from './rights.ts';
import { forms, learnNames, names, session } from './session.ts';
import * as ui from './ui.ts';

const pageSize = 25;

interface Column {
  readonly name: string;
  readonly label: string;
  readonly isSortable?: boolean;
}

const authorOf = ({ authorId }: Item) => String(authorId ?? '');

/** A table of users or of posts, as the query in the page's URL says it. */
export function list(kind: Kind, query: URLSearchParams): ui.View {
  const { one, many, heading, title } = ui.words[kind];
  const isUsers = kind === 'users';
  const { declared } = forms[kind];
  const given = (name: string) => query.get(name) ?? '';
  const sort = given('sort') || (isUsers || seesDrafts() ? '-createdAt' : '-publishedAt');
  const cursors = query.getAll(own.at);
  const now = query.get(own.now) ?? new Date().toISOString();
  const filter = filterOf(query, now);
  const whose = given('authorId');
  const isOfOne = !['', 'none', 'me'].includes(whose);
  let page: ListPage<Item> | undefined;
  let total: number | undefined;
  let error = '';
  /** The number of records that were downloaded, while they are. */
  let downloaded: number | undefined;
  let isStale = false;
  let loaded = load();
  ui.lists.set(kind, location.hash);

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
    const sorted = (name: string, label: string) => ({ name, label, isSortable: true });
    const [created, changed] = [sorted('createdAt', 'Created'), sorted('updatedAt', 'Changed')];
    const first = sorted(title, isUsers ? 'Name' : 'Title');
    if (isUsers && !readsFullUsers()) return [first, created];
    if (isUsers) return [first, sorted('email', 'Email address'), ...declared, created, changed];
    const author = { name: 'authorId', label: 'Author' };
    return [first, sorted('publishedAt', 'Publication'), author, ...declared, changed];
  }

  function cell(name: string, item: Item): ui.Html {
    const value = item[name];
    if (name === title)
      return html`<a href=${ui.hrefOf(kind, item.id)}>${ui.titleOf(kind, item)}</a>`;
    if (name === 'publishedAt') return ui.publication(value);
    if (name === 'createdAt' || name === 'updatedAt') return ui.time(value);
    if (name !== 'authorId' || typeof value !== 'string') return ui.wordOf(value);
    const text = names.get(value) ?? value;
    return reads('users') ? html`<a href=${ui.hrefOf('users', value)}>${text}</a>` : text;
  }

  /** The same list with another sort, or at another page. */
  function place(changes: Readonly<Record<string, string>>, at: readonly string[] = []): string {
    const next = new URLSearchParams(query);
    for (const name of [own.at, own.now]) next.delete(name);
    for (const [name, value] of Object.entries(changes)) next.set(name, value);
    for (const cursor of at) next.append(own.at, cursor);
    // A cursor belongs to one filter: what is published is asked for as of the first page.
    if (at.length > 0 && next.has(own.state)) next.set(own.now, now);
    return ui.href(kind, next);
  }

  function head({ name, label, isSortable }: Column): ui.Html {
    const isUp = sort === name;
    const order = isUp ? 'ascending' : sort === `-${name}` ? 'descending' : nothing;
    const arrow = isUp ? '↑' : order === nothing ? '' : '↓';
    const link = html`<a class="sort" href=${place({ sort: isUp ? `-${name}` : name })}
      >${label} <span aria-hidden="true">${arrow}</span></a>`;
    return html`<th scope="col" aria-sort=${order}>${isSortable ? link : label}</th>`;
  }

  function table({ items, next }: ListPage<Item>): ui.Html {
    const none = search.isFiltered ? `No ${many} match.` : `There are no ${many} yet.`;
    if (items.length === 0) return html`<p class="empty">${none}</p>`;
    const [first, ...rest] = columns();
    const row = (item: Item) => html`<tr><th scope="row">${cell(first?.name ?? '', item)}</th>
      ${rest.map(({ name }) => html`<td>${cell(name, item)}</td>`)}</tr>`;
    const turn = (text: string, rel: string, at: readonly string[]) =>
      html`<a class="button" rel=${rel} href=${place({}, at)}>${text}</a>`;
    return html`<div class="scroll" tabindex="0" role="region" aria-label=${heading}><table><thead><tr>${columns().map(head)}</tr></thead>
      <tbody>${repeat(items, ({ id }) => id, row)}</tbody></table></div>
      <nav class="pages" aria-label="Pages of the list">
      ${cursors.length > 0 ? turn('← Back', 'prev', cursors.slice(0, -1)) : ''}
      <span class="soft">Page ${cursors.length + 1}</span>
      ${next === null ? '' : turn('Next →', 'next', [...cursors, next])}</nav>`;
  }

  /** Reads the whole list, page by page, into a file. */
  async function download(): Promise<void> {
    if (downloaded !== undefined) return;
    downloaded = 0;
    ui.page.refresh();
    try {
      const items: Item[] = [];
      for await (const item of session[kind].all({ ...filter, sort })) {
        items.push(item);
        if (view.isLeft) return;
        if (items.length % 1000 > 0) continue;
        downloaded = items.length;
        ui.page.refresh();
      }
      save(`${kind}.csv`, new Blob([csvOf(items)], { type: 'text/csv' }));
    } catch (cause) {
      error = ui.sentenceOf(cause, view);
    } finally {
      downloaded = undefined;
      ui.page.refresh();
    }
  }

  function show(): ui.Html {
    const path = ui.href(`new/${kind}`, isOfOne ? new URLSearchParams({ authorId: whose }) : '');
    const make = html`<a class="button primary" href=${path}>New ${one}</a>`;
    const isDownloading = downloaded !== undefined;
    const label = isDownloading ? `Downloading… ${downloaded?.toLocaleString()}` : 'Download CSV';
    const csv = html`<button type="button" aria-disabled=${isDownloading} @click=${download}>${label}</button>`;
    return html`<div class="bar"><h1 tabindex="-1">${heading}</h1>
      <span class="soft" id="count">${total === undefined ? '' : ui.countOf(total, kind)}</span>
      <span class="end">${page?.items.length ? csv : ''} ${creates(kind) ? make : ''}</span></div>
      ${search.show()} ${ui.alertOf(error)}
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
  const search = filters(kind, query, view);
  return view;
}

function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
