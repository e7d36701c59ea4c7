import { html, nothing } from 'lit-html';
import type { ListPage, RecordEvent } from 'rostrum-client';
import { forms } from './fields.ts';
import {
  alertOf,
  type Html,
  href,
  options,
  publication,
  refresh,
  sentenceOf,
  time,
  type View,
} from './page.ts';
import { creates, type Item, type Kind, reads, seesDrafts, seesWhole, session } from './session.ts';

const pageSize = 25;
const numbers = new Intl.NumberFormat();

interface Column {
  readonly name: string;
  readonly label: string;
  readonly isSorted?: boolean;
  /** Left out on a phone. */
  readonly isWide?: boolean;
}

const words = {
  users: { one: 'user', many: 'Users', title: 'name' },
  posts: { one: 'post', many: 'Posts', title: 'title' },
} as const;

/** The states of posts, as filters. */
const states: Readonly<Record<string, () => object>> = {
  published: () => ({ 'publishedAt[lte]': new Date().toISOString() }),
  draft: () => ({ publishedAt: 'null' }),
  scheduled: () => ({ 'publishedAt[gt]': new Date().toISOString() }),
};

/**
 * A table of users or of posts, as the query in the page's URL says it.
 *
 * @param author whose posts they are, inside the page of that user
 */
export function list(kind: Kind, query = new URLSearchParams(), author?: string): View {
  const { one, many, title } = words[kind];
  const isUsers = kind === 'users';
  const { fields, filters } = forms[kind];
  const given = (name: string) => query.get(name) ?? '';
  const usual = isUsers || seesDrafts() ? '-createdAt' : '-publishedAt';
  const sort = given('sort') || usual;
  const cursors = query.getAll('at');
  const filter = filterOf();
  let page: ListPage<Item> | undefined;
  let total: number | undefined;
  let authors: ReadonlyMap<string, unknown> = new Map();
  let error = '';
  void load();

  function filterOf(): Record<string, unknown> {
    const found: Record<string, unknown> = { ...states[given('state')]?.() };
    if (given('find')) found[`${given('by') || title}[startsWith]`] = given('find');
    for (const bound of ['gte', 'lt']) {
      const at = new Date(`${given(bound)}T00:00`);
      at.setDate(at.getDate() + (bound === 'lt' ? 1 : 0));
      if (given(bound)) found[`createdAt[${bound}]`] = at.toISOString();
    }
    const whose = author ?? given('authorId');
    if (whose) found.authorId = whose === 'none' ? '' : whose;
    for (const { name } of filters) if (given(name)) found[name] = given(name);
    return found;
  }

  async function load(): Promise<void> {
    const counting = session[kind].list({ ...filter, count: 'exact', limit: 1, fields: ['id'] });
    counting.catch(() => {}); // It is waited for later.
    const cursor = cursors.at(-1) ?? null;
    try {
      page = await session[kind].list({ ...filter, sort, limit: pageSize, cursor });
      refresh();
      const ids = new Set(page.items.flatMap(({ authorId }) => (authorId ? [authorId] : [])));
      if (ids.size > 0 && reads('users')) {
        const { items } = await session.users.list({ id: [...ids], fields: ['name'] });
        authors = new Map(items.map(({ id, name }) => [id, name]));
        refresh();
      }
      ({ total } = await counting);
    } catch (cause) {
      error = sentenceOf(cause);
    }
    refresh();
  }

  function columns(): readonly Column[] {
    const isFilter = (name: string) => filters.some((one) => one.name === name);
    const custom = fields.filter(({ name, kind: type }) => isFilter(name) && type !== 'json');
    const more = custom.slice(0, 2).map(({ name, label }) => ({ name, label, isWide: true }));
    const sorted = (name: string, label: string) => ({ name, label, isSorted: true });
    const changed = { ...sorted('updatedAt', 'Changed'), isWide: true };
    const created = sorted('createdAt', 'Created');
    if (!isUsers) {
      const by = author ? [] : [{ name: 'authorId', label: 'Author', isWide: true }];
      return [
        sorted('title', 'Title'),
        ...by,
        sorted('publishedAt', 'Publication'),
        ...more,
        changed,
      ];
    }
    if (!seesWhole()) return [sorted('name', 'Name'), ...more, created];
    const email = sorted('email', 'Email address');
    return [sorted('name', 'Name'), email, ...more, { ...created, isWide: true }, changed];
  }

  function cell(name: string, item: Item): Html {
    const value = item[name];
    if (name === title)
      return html`<a href=${href(`${kind}/${encodeURIComponent(item.id)}`)}>${value}</a>`;
    if (name === 'publishedAt') return publication(value);
    if (name.endsWith('At')) return time(value);
    if (name === 'authorId' && typeof value === 'string') {
      const text = String(authors.get(value) ?? value);
      return reads('users')
        ? html`<a href=${href(`users/${encodeURIComponent(value)}`)}>${text}</a>`
        : text;
    }
    return value === undefined || value === null ? '' : String(value);
  }

  /** The same list with another sort, or at another page. */
  function place(changes: Readonly<Record<string, string>>, at: readonly string[] = []): string {
    const next = new URLSearchParams({ ...Object.fromEntries(query), ...changes });
    next.delete('at');
    for (const cursor of at) next.append('at', cursor);
    return href(kind, next);
  }

  function head({ name, label, isSorted, isWide }: Column): Html {
    const wide = isWide ? 'wide' : '';
    if (!isSorted || author) return html`<th scope="col" class=${wide}>${label}</th>`;
    const [isUp, isDown] = [sort === name, sort === `-${name}`];
    const order = isUp ? 'ascending' : isDown ? 'descending' : nothing;
    return html`<th scope="col" class=${wide} aria-sort=${order}>
      <a class="sort" href=${place({ sort: isUp ? `-${name}` : name })}
        >${label} <span aria-hidden="true">${isUp ? '↑' : isDown ? '↓' : ''}</span></a></th>`;
  }

  function table({ items, next }: ListPage<Item>): Html {
    const none =
      Object.keys(filter).length === 0
        ? `There are no ${many.toLowerCase()} yet.`
        : author === undefined
          ? `No ${one} is like that.`
          : 'This user has no posts.';
    if (items.length === 0) return html`<p class="empty">${none}</p>`;
    const shown = columns();
    const row = (item: Item) =>
      html`<tr>${shown.map(({ name, isWide }, index) =>
        index === 0
          ? html`<th scope="row">${cell(name, item)}</th>`
          : html`<td class=${isWide ? 'wide' : ''}>${cell(name, item)}</td>`,
      )}</tr>`;
    const turn = (text: string, rel: string, at: readonly string[]) =>
      html`<a class="button" rel=${rel} href=${place({}, at)}>${text}</a>`;
    const pages = html`<nav class="pages" aria-label="Pages of the list">
      ${cursors.length > 0 ? turn('← Back', 'prev', cursors.slice(0, -1)) : ''}
      <span class="soft">Page ${cursors.length + 1}</span>
      ${next === null ? '' : turn('Next →', 'next', [...cursors, next])}</nav>`;
    const all = new URLSearchParams({ authorId: author ?? '' });
    const rest =
      next === null ? '' : html`<p><a href=${href('posts', all)}>All posts of this user</a></p>`;
    return html`<table><thead><tr>${shown.map(head)}</tr></thead>
      <tbody>${items.map(row)}</tbody></table>${author ? rest : pages}`;
  }

  function submit(event: Event): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const next = new URLSearchParams(given('sort') ? { sort: given('sort') } : '');
    for (const [name, value] of data)
      if (String(value).trim()) next.set(name, String(value).trim());
    location.hash = href(kind, next);
  }

  /** Searches by the beginning, and filters: each is a part of the page's URL. */
  function search(): Html {
    const select = (name: string, label: string, all: Readonly<Record<string, string>>) =>
      html`<label>${label} <select name=${name}>${options(Object.entries(all), given(name))}</select></label>`;
    const drafts = { draft: 'Drafts', scheduled: 'Scheduled' };
    const whose = given('authorId');
    const isOne = whose !== '' && whose !== 'none' && whose !== 'me';
    const isOpen = [...query.keys()].some((name) => !['find', 'by', 'at', 'sort'].includes(name));
    const seesAll = seesDrafts() || whose === 'me';
    return html`<form class="search" role="search" @submit=${submit} autocomplete="off">
      <label class="grow">${isUsers ? 'Begins with' : 'Title begins with'}
        <input name="find" type="search" .value=${given('find')}></label>
      ${isUsers && seesWhole() ? select('by', 'In', { '': title, email: 'email address' }) : ''}
      <details ?open=${isOpen}><summary>Filters</summary><div class="fields">
        ${
          isUsers
            ? ''
            : [
                select('state', 'Publication', {
                  '': 'Any',
                  published: 'Published',
                  ...(seesAll && drafts),
                }),
                select('authorId', 'Whose', {
                  '': 'Everybody’s',
                  none: 'Without an author',
                  ...(session.subject && { me: 'Mine' }),
                  ...(isOne && { [whose]: 'One user’s' }),
                }),
              ]
        }
        <label>Created from <input type="date" name="gte" .value=${given('gte')}></label>
        <label>to <input type="date" name="lt" .value=${given('lt')}></label>
        ${(isUsers && !seesWhole() ? [] : filters).map(({ name, choices }) =>
          choices.length > 0
            ? select(name, name, {
                '': 'Any',
                ...Object.fromEntries(choices.map((one) => [one, one])),
              })
            : html`<label>${name} <input name=${name} .value=${given(name)}></label>`,
        )}</div></details>
      <button>Search</button>${query.size > 0 ? html`<a href=${href(kind)}>Clear</a>` : ''}</form>`;
  }

  function show(): Html {
    const count =
      total === undefined
        ? ''
        : `${numbers.format(total)} ${total === 1 ? one : many.toLowerCase()}`;
    const path = href(`${kind}/new`, new URLSearchParams(author ? { authorId: author } : ''));
    const make = creates(kind) ? html`<a class="button primary" href=${path}>New ${one}</a>` : '';
    return html`<div class="bar">${author ? html`<h2>Posts</h2>` : html`<h1 tabindex="-1">${many}</h1>`}
      <span class="soft" id="count">${count}</span>${make}</div>
      ${author ? '' : search()} ${alertOf(error)}
      ${page ? table(page) : error ? '' : html`<p class="soft">Loading…</p>`}`;
  }

  let waiting: ReturnType<typeof setTimeout> | undefined;

  function follow(events: readonly RecordEvent[]): void {
    const isOurs = events.some(({ type }) => kind.startsWith(type.split('.')[0] ?? ''));
    if (!isOurs || waiting !== undefined) return;
    // Where very much changes, the list is read anew once a second.
    waiting = setTimeout(() => {
      waiting = undefined;
      void load();
    }, 1000);
  }

  return { title: many, show, follow };
}
