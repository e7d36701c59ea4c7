import { html, nothing, type TemplateResult } from 'lit-html';
import type { ListPage, RecordEvent } from 'rostrum-client';
import type { Form } from './fields.ts';
import { alertOf, href, publication, refresh, sentenceOf, time, type View } from './page.ts';
import type { Item, Kind, Session } from './session.ts';

const pageSize = 25;
const numbers = new Intl.NumberFormat();

interface Column {
  readonly name: string;
  readonly label: string;
  readonly sort?: string;
  /** Left out on a phone. */
  readonly isWide?: boolean;
}

const words = {
  users: { one: 'user', many: 'Users', title: 'name' },
  posts: { one: 'post', many: 'Posts', title: 'title' },
} as const;

/** The states of posts, as filters. */
const states: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  published: () => ({ 'publishedAt[lte]': new Date().toISOString() }),
  draft: () => ({ publishedAt: 'null' }),
  scheduled: () => ({ 'publishedAt[gt]': new Date().toISOString() }),
};

/**
 * A table of users or of posts, as the query in the page's URL says it.
 *
 * @param author whose posts they are, inside the page of that user
 */
export class List implements View {
  readonly title: string;
  readonly #session: Session;
  readonly #kind: Kind;
  readonly #form: Form;
  readonly #query: URLSearchParams;
  readonly #author: string | undefined;
  #page: ListPage<Item> | undefined;
  #total: number | undefined;
  #authors: ReadonlyMap<string, string> = new Map();
  #error = '';

  constructor(
    session: Session,
    kind: Kind,
    form: Form,
    { query = new URLSearchParams(), author }: { query?: URLSearchParams; author?: string } = {},
  ) {
    this.title = words[kind].many;
    this.#session = session;
    this.#kind = kind;
    this.#form = form;
    this.#query = query;
    this.#author = author;
    void this.#load();
  }

  get #sort(): string {
    const { seesDrafts } = this.#session;
    const usual = this.#kind === 'posts' && !seesDrafts ? '-publishedAt' : '-createdAt';
    return this.#query.get('sort') ?? usual;
  }

  #filter(): Record<string, string> {
    const query = this.#query;
    const filter: Record<string, string> = {};
    const given = (name: string) => query.get(name) ?? '';
    if (given('find'))
      filter[`${given('by') || words[this.#kind].title}[startsWith]`] = given('find');
    for (const [name, bound, days] of [
      ['from', 'gte', 0],
      ['to', 'lt', 1],
    ] as const) {
      const at = new Date(`${given(name)}T00:00`);
      at.setDate(at.getDate() + days);
      if (!Number.isNaN(at.getTime())) filter[`createdAt[${bound}]`] = at.toISOString();
    }
    Object.assign(filter, states[given('state')]?.());
    const author = this.#author ?? query.get('authorId');
    if (author !== null) filter.authorId = author === 'none' ? '' : author;
    for (const { name } of this.#form.filters) if (given(name)) filter[name] = given(name);
    return filter;
  }

  async #load(): Promise<void> {
    const resource = this.#session[this.#kind];
    const filter = this.#filter();
    const count = resource.list({ ...filter, count: 'exact', limit: 1, fields: ['id'] });
    count.then(
      ({ total }) => {
        this.#total = total;
        refresh();
      },
      () => {},
    );
    const cursor = this.#query.getAll('at').at(-1) ?? null;
    try {
      this.#page = await resource.list({ ...filter, sort: this.#sort, limit: pageSize, cursor });
      refresh();
      await this.#nameAuthors(this.#page.items);
    } catch (error) {
      this.#error = sentenceOf(error);
    }
    refresh();
  }

  follow(events: readonly RecordEvent[]): void {
    if (events.some(({ type }) => this.#kind.startsWith(type.split('.')[0] ?? ''))) {
      void this.#load();
    }
  }

  async #nameAuthors(items: readonly Item[]): Promise<void> {
    if (this.#kind === 'users' || !this.#session.reads('users')) return;
    const ids = new Set(items.flatMap(({ authorId }) => (authorId ? [String(authorId)] : [])));
    const { items: users } = await this.#session.users.list({ id: [...ids], fields: ['name'] });
    this.#authors = new Map(users.map(({ id, name }) => [id, String(name)]));
  }

  #columns(): readonly Column[] {
    const custom = this.#form.fields.filter(({ name, kind }) => {
      return this.#form.filters.some((filter) => filter.name === name) && kind !== 'json';
    });
    const more = custom.slice(0, 2).map(({ name, label }) => ({ name, label, isWide: true }));
    const isWide = true;
    const created = { name: 'createdAt', label: 'Created', sort: 'createdAt', isWide };
    const changed = { name: 'updatedAt', label: 'Changed', sort: 'updatedAt', isWide };
    if (this.#kind === 'posts') {
      const author =
        this.#author === undefined ? [{ name: 'authorId', label: 'Author', isWide }] : [];
      const state = { name: 'publishedAt', label: 'Publication', sort: 'publishedAt' };
      return [{ name: 'title', label: 'Title', sort: 'title' }, ...author, state, ...more, changed];
    }
    const name = { name: 'name', label: 'Name', sort: 'name' };
    if (!this.#session.seesWhole) return [name, ...more, { ...created, isWide: false }];
    const email = { name: 'email', label: 'Email address', sort: 'email' };
    return [name, email, ...more, created, changed];
  }

  #cell({ name }: Column, item: Item): TemplateResult | string {
    const value = item[name];
    if (name === words[this.#kind].title) {
      return html`<a href=${href(`${this.#kind}/${encodeURIComponent(item.id)}`)}>${value}</a>`;
    }
    if (name === 'publishedAt') return html`${publication(value)}`;
    if (name.endsWith('At')) return html`${time(value)}`;
    if (name === 'authorId' && typeof value === 'string') {
      const text = this.#authors.get(value) ?? value;
      if (!this.#session.reads('users')) return text;
      return html`<a href=${href(`users/${encodeURIComponent(value)}`)}>${text}</a>`;
    }
    return value === undefined || value === null ? '' : String(value);
  }

  #with(changes: Readonly<Record<string, string>>): string {
    const query = new URLSearchParams(this.#query);
    query.delete('at');
    for (const [name, value] of Object.entries(changes)) query.set(name, value);
    return href(this.#kind, query);
  }

  #head({ label, sort, isWide }: Column): TemplateResult {
    const [at, isDown] = [this.#sort.replace('-', ''), this.#sort.startsWith('-')];
    const isHere = sort === at;
    const order = isHere ? (isDown ? 'descending' : 'ascending') : nothing;
    if (sort === undefined || this.#author !== undefined) {
      return html`<th scope="col" class=${isWide ? 'wide' : ''}>${label}</th>`;
    }
    const other = isHere && !isDown ? `-${sort}` : sort;
    const arrow = isHere ? (isDown ? '↓' : '↑') : '';
    return html`<th scope="col" class=${isWide ? 'wide' : ''} aria-sort=${order}>
      <a class="sort" href=${this.#with({ sort: other })}
        >${label} <span aria-hidden="true">${arrow}</span></a></th>`;
  }

  show(): TemplateResult {
    const { many, one } = words[this.#kind];
    const isInside = this.#author !== undefined;
    const total = this.#total;
    const count =
      total === undefined
        ? ''
        : `${numbers.format(total)} ${total === 1 ? one : many.toLowerCase()}`;
    const more = new URLSearchParams(isInside ? { authorId: this.#author ?? '' } : '');
    const make = this.#session.creates(this.#kind)
      ? html`<a class="button primary" href=${href(`${this.#kind}/new`, more)}>New ${one}</a>`
      : '';
    return html`<div class="bar">${
      isInside ? html`<h2>Posts</h2>` : html`<h1 tabindex="-1">${many}</h1>`
    }<span class="soft" id="count">${count}</span>${make}</div>
    ${isInside ? '' : this.#search()} ${alertOf(this.#error)}
    ${this.#page === undefined ? (this.#error ? '' : html`<p class="soft">Loading…</p>`) : this.#table(this.#page)}`;
  }

  #table({ items, next }: ListPage<Item>): TemplateResult {
    const columns = this.#columns();
    const { one, many } = words[this.#kind];
    if (items.length === 0) {
      const isAll = Object.keys(this.#filter()).length === 0;
      return html`<p class="empty">${isAll ? `There are no ${many.toLowerCase()} yet.` : `No ${one} is like that.`}</p>`;
    }
    const at = this.#query.getAll('at');
    const page = (cursors: readonly string[]) => {
      const query = new URLSearchParams(this.#query);
      query.delete('at');
      for (const cursor of cursors) query.append('at', cursor);
      return href(this.#kind, query);
    };
    const rows = items.map(
      (item) =>
        html`<tr>${columns.map((column, index) => {
          const cell = this.#cell(column, item);
          if (index === 0) return html`<th scope="row">${cell}</th>`;
          return html`<td class=${column.isWide ? 'wide' : ''}>${cell}</td>`;
        })}</tr>`,
    );
    const all = new URLSearchParams({ authorId: this.#author ?? '' });
    const pages =
      this.#author === undefined
        ? html`<nav class="pages" aria-label="Pages of the list">
          ${at.length > 0 ? html`<a class="button" rel="prev" href=${page(at.slice(0, -1))}>← Back</a>` : ''}
          <span class="soft">Page ${at.length + 1}</span>
          ${next !== null ? html`<a class="button" rel="next" href=${page([...at, next])}>Next →</a>` : ''}</nav>`
        : next !== null
          ? html`<p><a href=${href('posts', all)}>All posts of this user</a></p>`
          : '';
    return html`<table><thead><tr>${columns.map((column) => this.#head(column))}</tr></thead>
      <tbody>${rows}</tbody></table>${pages}`;
  }

  /** Searches by the beginning, and filters: each is a part of the page's URL. */
  #search(): TemplateResult {
    const { title } = words[this.#kind];
    const query = this.#query;
    const isUsers = this.#kind === 'users';
    const given = (name: string) => query.get(name) ?? '';
    const select = (name: string, label: string, options: readonly (readonly [string, string])[]) =>
      html`<label>${label} <select name=${name}>${options.map(
        ([value, text]) =>
          html`<option value=${value} ?selected=${given(name) === value}>${text}</option>`,
      )}</select></label>`;
    const submit = (event: Event) => {
      event.preventDefault();
      const data = new FormData(event.currentTarget as HTMLFormElement);
      const filled = [...data].map(([name, value]) => [name, String(value).trim()] as const);
      const next = new URLSearchParams(
        filled.filter(([, value]) => value !== '').map((one) => [...one]),
      );
      if (given('sort')) next.set('sort', given('sort'));
      location.hash = href(this.#kind, next);
    };
    const { subject } = this.#session.caller;
    const author = given('authorId');
    const whose = [
      ...[['', 'Everybody’s'], ['none', 'Without an author'], ...(subject ? [['me', 'Mine']] : [])],
      ...(author && !['none', 'me'].includes(author) ? [[author, 'One user’s']] : []),
    ] as [string, string][];
    const filters = isUsers && !this.#session.seesWhole ? [] : this.#form.filters;
    const isOpen = [...query.keys()].some((name) => !['find', 'by', 'at', 'sort'].includes(name));
    return html`<form class="search" role="search" @submit=${submit} autocomplete="off">
      <label class="grow">${isUsers ? 'Begins with' : 'Title begins with'}
        <input name="find" type="search" .value=${given('find')}></label>
      ${
        isUsers && this.#session.seesWhole
          ? select('by', 'In', [
              ['', title],
              ['email', 'email address'],
            ])
          : ''
      }
      <details ?open=${isOpen}><summary>Filters</summary><div class="fields">
        ${
          isUsers
            ? ''
            : select('state', 'Publication', [
                ['', 'Any'],
                ['published', 'Published'],
                ...(this.#session.seesDrafts
                  ? ([
                      ['draft', 'Drafts'],
                      ['scheduled', 'Scheduled'],
                    ] as [string, string][])
                  : []),
              ])
        }
        ${isUsers ? '' : select('authorId', 'Whose', whose)}
        <label>Created from <input type="date" name="from" .value=${given('from')}></label>
        <label>to <input type="date" name="to" .value=${given('to')}></label>
        ${filters.map(({ name, choices }) =>
          choices.length > 0
            ? select(name, name, [['', 'Any'], ...choices.map((one) => [one, one] as const)])
            : html`<label>${name} <input name=${name} .value=${given(name)}></label>`,
        )}</div></details>
      <button>Search</button>
      ${query.size > 0 ? html`<a href=${href(this.#kind)}>Clear</a>` : ''}</form>`;
  }
}
