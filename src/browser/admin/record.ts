import { html } from 'lit-html';
import { isApiProblem, type RecordEvent, type Versioned } from 'rostrum-client';
import { control } from './control.ts';
import { type Field, forms, kindOf, parse, textOf, unescaped, valueIn } from './fields.ts';
import { removal } from './removal.ts';
import { changes, reads } from './rights.ts';
import { type Item, type Kind, names, session } from './session.ts';
import * as ui from './ui.ts';

const met = `Somebody else saved this record, and nothing of yours is saved yet. Where you both changed
  a field, both versions are shown: choose, and save.`;

/** A record in a form, or a new one. What others save comes in as they save it. */
export function record(kind: Kind, stored?: Versioned<Item>, author = ''): ui.View {
  const { fields } = forms[kind];
  const { one, heading, title } = ui.words[kind];
  /** What was typed, by the names of fields. */
  let texts = new Map<string, string>(author === '' ? [] : [['authorId', author]]);
  /** The fields that somebody else changed meanwhile. */
  let theirs = new Set<string>();
  let errors = new Map<string, string>();
  let message = '';
  let isBusy = false;
  /** How many posts a user has, as far as this caller may know. */
  let posts: number | undefined;
  let deletion: ReturnType<typeof removal> | undefined;
  /** A form that is sent again, because no response came, makes one record. */
  let sent = { body: '', key: '' };
  if (stored !== undefined) take(stored);

  /** Shows a version of the record, and nothing of what was typed. */
  function take(now: Versioned<Item>): void {
    stored = now;
    [texts, theirs, errors, message] = [new Map(), new Set(), new Map(), ''];
    void countPosts(now.record.id);
    deletion ??= removal(kind, () => ({ ...now, ...stored, posts }));
  }

  async function countPosts(authorId: string): Promise<void> {
    if (kind === 'posts' || !reads('posts')) return;
    const query = { authorId, count: 'exact', limit: 1, fields: ['id'] };
    ({ total: posts } = await session.posts.list(query));
    ui.refresh();
  }

  const given = (field: Field) => valueIn(stored?.record, field, fields);
  const storedText = (field: Field) => textOf(kindOf(field, given(field)), given(field));
  const typedText = (field: Field) => texts.get(field.name) ?? storedText(field);
  const isTyped = (field: Field) => typedText(field) !== storedText(field);

  /** Brings in what somebody else saved, and keeps what was typed. */
  function meet(now: Versioned<Item>): void {
    const isTouched = fields.some(isTyped);
    const before = fields.map((field) => [field, storedText(field), isTyped(field)] as const);
    stored = now;
    for (const [field, was, wasTyped] of before) {
      if (!wasTyped) texts.delete(field.name);
      if (storedText(field) !== was) theirs.add(field.name);
    }
    if (isTouched) message = met;
    else {
      take(now);
      ui.tell('Somebody else saved this record: this is how it is now.');
    }
    ui.refresh();
  }

  /** What is to be saved: as it is stored, with what was typed. Undefined where that cannot be read. */
  function read(): object | undefined {
    const input: Record<string, unknown> = {};
    errors = new Map();
    for (const field of fields) {
      let value = given(field);
      const isNew = stored === undefined && field.isRequired;
      try {
        if (isNew || isTyped(field)) value = parse(field, kindOf(field, value), typedText(field));
      } catch (error) {
        errors.set(field.name, ui.sentenceOf(error));
      }
      if (field.name === '') Object.assign(input, value);
      else if (value !== undefined) input[field.name] = value;
    }
    return errors.size > 0 ? undefined : input;
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    message = '';
    const input = read();
    if (input === undefined) return fail();
    isBusy = true;
    ui.refresh();
    try {
      await (stored === undefined ? create(input) : replace(stored, input));
    } catch (error) {
      message = ui.sentenceOf(error);
      if (isApiProblem(error)) point(error.errors);
      fail();
    }
    isBusy = false;
    ui.refresh();
  }

  async function create(input: object): Promise<void> {
    const body = JSON.stringify(input);
    if (sent.body !== body) sent = { body, key: `admin-${Math.random()}-${Date.now()}` };
    const made = await session[kind].create(input, { idempotencyKey: sent.key });
    take(made);
    if (reads(kind)) history.replaceState(null, '', ui.hrefOf(kind, made.record.id));
    ui.focus('h1');
    ui.tell('It is created.');
  }

  async function replace({ record, version }: Versioned<Item>, input: object): Promise<void> {
    try {
      take(await session[kind].replace(record.id, input, { ifMatch: version }));
      ui.tell('It is saved.');
    } catch (error) {
      if (!isApiProblem(error, 'version-mismatch')) throw error;
      meet(await session[kind].get(record.id));
      ui.focus('.alert');
    }
  }

  /** Puts what is wrong to the fields where it is. */
  function point(entries: readonly object[]): void {
    for (const entry of entries as { pointer?: string; message: string }[]) {
      const { pointer = '', message: text } = entry;
      const key = unescaped(pointer.split('/')[1] ?? '');
      const name = fields.some((field) => field.name === key) ? key : '';
      const where = pointer === `/${name}` ? '' : `${pointer}: `;
      errors.set(name, `${errors.get(name) ?? ''} ${where}${text}`.trim());
    }
  }

  function fail(): void {
    const count = errors.size === 1 ? 'a field' : `${errors.size} fields`;
    if (errors.size > 0) message = `It is not saved: something is wrong in ${count}.`;
    ui.refresh();
    ui.focus(errors.size > 0 ? '[aria-invalid=true]' : '.alert');
  }

  function facts({ record: { id, createdAt, updatedAt }, version }: Versioned<Item>): ui.Html {
    const changed = updatedAt === undefined ? '' : html` · Changed ${ui.time(updatedAt)}`;
    const path = ui.href('posts', new URLSearchParams({ authorId: id }));
    return html`<p class="soft facts"><code>${id}</code> · Created ${ui.time(createdAt)}${changed}
      ${version > 0 ? `· Version ${version}` : ''}</p>
      ${posts === undefined ? '' : html`<p><a class="button" href=${path}>${ui.countOf(posts, 'posts')} of this user</a></p>`}`;
  }

  function entry(field: Field): ui.Html {
    const [name, kind] = [field.name, kindOf(field, given(field))];
    const set = (text: string) => {
      texts.set(name, text);
      ui.refresh();
    };
    const error = errors.get(name) ?? '';
    const mine = control({ field, kind, error, text: typedText(field), set });
    if (!theirs.has(name)) return mine;
    if (!isTyped(field)) return html`${mine}<p class="hint theirs">Changed by somebody else.</p>`;
    const text = storedText(field);
    const shown = (kind === 'author' && names.get(text)) || text || '(empty)';
    return html`<div class="both">${mine}<div class="field"><b>Theirs</b>
      <pre tabindex="0" aria-label=${`${field.label}, theirs`}>${shown}</pre>
      ${ui.button('Take theirs', () => set(text))}</div></div>`;
  }

  function form(): ui.Html {
    const may = stored === undefined || changes(kind, stored.record);
    // Who may write no other's posts chooses no author.
    const open = fields.filter(({ kind }) => kind !== 'author' || session.has('posts:write'));
    const shown = may ? open : fields.filter((field) => given(field) !== undefined);
    const buttons = html`<div class="bar"><button class="primary" ?disabled=${isBusy}>${stored ? 'Save' : 'Create'}</button>
      ${deletion ? ui.button('Delete…', deletion.open, 'bad') : ''}</div>`;
    return html`<form class="record" @submit=${save} novalidate autocomplete="off">
      <fieldset ?disabled=${!may}>${shown.map(entry)}</fieldset> ${may ? buttons : ''}</form>
      ${may && deletion ? deletion.show() : ''}`;
  }

  async function follow(events: readonly RecordEvent[]): Promise<void> {
    const id = stored?.record.id;
    const last = events.findLast((event) => event.id === id && event.type.startsWith(one));
    if (id === undefined || last === undefined || isBusy) return;
    const { version = Number.MAX_VALUE } = last;
    if (last.type.endsWith('deleted')) message = 'Somebody else deleted this record.';
    else if (version > (stored?.version ?? 0)) await session[kind].get(id).then(meet, () => {});
    ui.refresh();
  }

  return {
    get title() {
      return stored === undefined ? `New ${one}` : String(stored.record[title]);
    },
    isChanged: () => fields.some(isTyped),
    show() {
      const back = html`<a href=${ui.href(kind)}>← ${heading}</a>`;
      return html`<p class="back">${reads(kind) ? back : ''}</p>
        <h1 tabindex="-1">${this.title}</h1> ${stored ? facts(stored) : ''} ${ui.alertOf(message)}
        ${form()}`;
    },
    follow,
  };
}
