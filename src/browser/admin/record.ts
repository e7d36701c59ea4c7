import { html } from 'lit-html';
import { isApiProblem, type RecordEvent, type Versioned } from 'rostrum-client';
import { labelled } from './control.ts';
import type { Field, Item, Kind } from './fields.ts';
import { controlOf, isNamed, parse, textOf, unescaped, valueIn } from './fields.ts';
import { askToRemove, isAsking, removal } from './removal.ts';
import { changes, creates, reads } from './rights.ts';
import { forms, learnNames, names, session } from './session.ts';
import * as ui from './ui.ts';

const conflict = `Somebody else saved this record, and nothing of yours is saved yet. What only they changed
  is in the form. Where you both changed a field, choose: then save.`;

/** A record in a form, or a new one. What others save comes in as they save it. */
export function record(kind: Kind, stored?: Versioned<Item>, author = ''): ui.View {
  const { fields } = forms[kind];
  const { one, heading, title } = ui.words[kind];
  /** What was typed, by the names of fields. */
  let texts = new Map<string, string>(author === '' ? [] : [['authorId', author]]);
  /** What somebody else changed meanwhile: where both did, one is to be chosen. */
  let changed = new Map<string, { readonly mine?: string; readonly isOpen: boolean }>();
  let errors = new Map<string, string>();
  let message = '';
  let isBusy = false;
  /** How many posts a user has, as far as this caller may know. */
  let posts: number | undefined;
  /** A form that is sent again, because no response came, makes one record. */
  let sent = { body: '', key: '' };
  const name = () => (stored === undefined ? `New ${one}` : String(stored.record[title]));
  const given = (field: Field) => valueIn(stored?.record, field, fields);
  const storedText = (field: Field) => textOf(controlOf(field, given(field)), given(field));
  const typedText = (field: Field) => texts.get(field.name) ?? storedText(field);
  const isTyped = (field: Field) => typedText(field) !== storedText(field);
  const isUndecided = () => [...changed.values()].some(({ isOpen }) => isOpen);
  // The author that a new post begins with was not typed.
  const isChanged = () => fields.some((one) => isTyped(one) && typedText(one) !== (author || null));
  const view: ui.View = { title: name, show, follow, isChanged };
  if (stored !== undefined) accept(stored);

  /**
   * Shows a version of the record.
   *
   * @param saved what was typed when it was saved: what was typed since stays
   */
  function accept(now: Versioned<Item>, saved: ReadonlyMap<string, string> = texts): void {
    stored = now;
    texts = new Map([...texts].filter(([name, text]) => saved.get(name) !== text));
    [changed, errors, message] = [new Map(), new Map(), ''];
    const { id, name, authorId } = now.record;
    if (kind === 'users') names.set(id, String(name));
    void learn(id, authorId).catch(() => {}); // The form does without.
  }

  /** Learns the name of a post's author, or how many posts a user has. */
  async function learn(id: string, authorId: unknown): Promise<void> {
    if (kind === 'users' && reads('posts')) {
      const query = { authorId: id, count: 'exact', limit: 1, fields: ['id'] };
      ({ total: posts } = await session.posts.list(query));
    }
    if (authorId && reads('users')) await learnNames({ id: authorId });
    ui.refresh();
  }

  /**
   * Brings in what somebody else saved, and keeps what was typed.
   *
   * @param said what is told where nothing was typed
   */
  async function merge(id: string, said: string): Promise<void> {
    const now = await session[kind].get(id);
    if (view.isLeft || isAsking() || now.version <= (stored?.version ?? 0)) return;
    const before = fields.map((field) => [field, storedText(field), isTyped(field)] as const);
    stored = now;
    for (const [field, was, isMine] of before) {
      if (!isMine) texts.delete(field.name);
      if (storedText(field) === was) continue;
      const both = isTyped(field) && { mine: typedText(field) };
      changed.set(field.name, { ...both, isOpen: both !== false });
    }
    if (fields.some(isTyped)) message = conflict;
    else {
      accept(now);
      ui.notify(said);
    }
  }

  /** Where a change was refused, because the record is not what it was. */
  async function catchUp(cause: unknown, id: string, said = ''): Promise<void> {
    if (!isApiProblem(cause, 'version-mismatch')) throw cause;
    await merge(id, said);
    ui.focus(isUndecided() ? '[data-open] button' : '.alert');
  }

  /** What is to be saved: as it is stored, with what was typed. Undefined where that cannot be read. */
  function read(): object | undefined {
    const input: Record<string, unknown> = {};
    errors = new Map();
    for (const field of fields) {
      let value = given(field);
      const isNew = stored === undefined && (field.isRequired || field.name === 'publishedAt');
      try {
        if (isNew || isTyped(field))
          value = parse(field, controlOf(field, value), typedText(field));
        const others = Object.keys((field.name === '' && value) || {});
        const own = others.find((name) => isNamed(name, fields));
        if (own !== undefined) throw new Error(`"${own}" has a field of its own.`);
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
    if (isUndecided()) {
      message = 'Not saved: choose first, where you both changed a field.';
      ui.refresh();
      return ui.focus('[data-open] button');
    }
    const input = read();
    if (input === undefined) fail();
    else await attempt(stored === undefined ? create(input) : replace(stored, input));
  }

  /** Waits for a change, and tells what is wrong with it. */
  async function attempt(change: Promise<void>): Promise<void> {
    [isBusy, errors, message] = [true, new Map(), ''];
    ui.refresh();
    try {
      await change;
    } catch (error) {
      message = ui.sentenceOf(error);
      if (isApiProblem(error)) showErrors(error.errors);
      if (isApiProblem(error) && error.code === `${one}-not-found`) vanish();
      fail();
      if (isApiProblem(error, 'unauthenticated')) ui.askForKey();
    }
    isBusy = false;
    ui.refresh();
  }

  async function create(input: object): Promise<void> {
    const [body, saved] = [JSON.stringify(input), new Map(texts)];
    if (sent.body !== body) sent = { body, key: `admin-${Math.random()}-${Date.now()}` };
    const made = await session[kind].create(input, { idempotencyKey: sent.key });
    if (reads(kind)) accept(made, saved);
    else [texts, sent] = [new Map(), { body: '', key: '' }]; // The form is for the next one.
    if (reads(kind) && !view.isLeft)
      history.replaceState(null, '', ui.hrefOf(kind, made.record.id));
    if (!view.isLeft) ui.focus('h1');
    ui.notify('Created.');
  }

  async function replace({ record, version }: Versioned<Item>, input: object): Promise<void> {
    const saved = new Map(texts);
    try {
      accept(await session[kind].replace(record.id, input, { ifMatch: version }), saved);
      ui.notify('Saved.');
    } catch (cause) {
      // Where what was typed is what is stored now, the response to our own change was lost.
      await catchUp(cause, record.id, 'Saved.');
    }
  }

  /** Deletes the version that is shown. */
  async function remove({ record, version }: Versioned<Item>, choice?: string): Promise<void> {
    try {
      await session[kind].delete(record.id, { ifMatch: version, posts: choice });
    } catch (cause) {
      posts = undefined; // There may be more than were counted.
      await catchUp(cause, record.id);
      message = 'Not deleted: somebody else changed this record. Look at it as it is now.';
      return;
    }
    if (!view.isLeft) location.hash = ui.href(reads(kind) ? kind : '');
    view.isLeft = true;
    ui.notify('Deleted.');
  }

  /** Puts what is wrong to the fields where it is. */
  function showErrors(entries: readonly object[]): void {
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
    if (errors.size > 0) message = `Not saved: something is wrong in ${count}.`;
    ui.refresh();
    if (view.isLeft) ui.notify(message);
    else ui.focus(errors.size > 0 ? '[aria-invalid=true]' : '.alert');
  }

  function facts({ record: { id, createdAt, updatedAt }, version }: Versioned<Item>): ui.Html {
    const path = ui.href('posts', new URLSearchParams({ authorId: id }));
    return html`<p class="soft facts"><code>${id}</code> · Created ${ui.time(createdAt)}
      ${version > 0 ? html`· Changed ${ui.time(updatedAt)} · Version ${version}` : ''}</p>
      ${posts === undefined ? '' : html`<p><a class="button" href=${path}>${ui.countOf(posts, 'posts')} of this user</a></p>`}`;
  }

  function entry(field: Field): ui.Html {
    const { name } = field;
    const { mine, isOpen = false } = changed.get(name) ?? {};
    const set = (text: string) => {
      texts.set(name, text);
      if (mine !== undefined) changed.set(name, { mine, isOpen: false });
      ui.refresh();
    };
    const [control, error] = [controlOf(field, given(field)), errors.get(name) ?? ''];
    const shown = labelled({ field, control, error, text: typedText(field), set });
    if (!changed.has(name)) return shown;
    const hint = html`${shown}<p class="hint theirs">Changed by somebody else.</p>`;
    if (mine === undefined) return hint;
    const text = storedText(field);
    const theirs = (control === 'author' && names.get(text)) || text || '(empty)';
    return html`<div class="both" ?data-open=${isOpen}><div>${shown}${ui.button('Keep mine', () => set(mine))}</div>
      <div class="field"><b>Theirs</b><pre tabindex="0" aria-label=${`${field.label}, theirs`}>${theirs}</pre>
      ${ui.button('Take theirs', () => set(text))}</div></div>`;
  }

  function form(): ui.Html {
    const may = stored === undefined || changes(kind, stored.record);
    // Who may write no other's posts chooses no author.
    const open = fields.filter(({ control }) => control !== 'author' || session.has('posts:write'));
    const shown = may ? open : fields.filter((field) => given(field) !== undefined);
    const buttons = html`<div class="bar"><button class="primary" ?disabled=${isBusy}>${stored ? 'Save' : 'Create'}</button>
      ${stored ? ui.button('Delete…', askToRemove, 'bad', isBusy) : ''}</div>`;
    const chosen = (choice?: string) => stored && attempt(remove(stored, choice));
    return html`<form class="record" @submit=${save} novalidate autocomplete="off">
      <fieldset ?disabled=${!may}>${shown.map(entry)}</fieldset> ${may ? buttons : ''}</form>
      ${may && stored ? removal(kind, stored.record, posts, chosen) : ''}`;
  }

  async function follow(events: readonly RecordEvent[]): Promise<void> {
    const isOurs = ({ id, type }: RecordEvent) => id === stored?.record.id && type.startsWith(one);
    const last = events.findLast(isOurs);
    // What comes while we change the record ourselves is met by our own change.
    if (last === undefined || isBusy) return;
    const { id, version = 0, type } = last;
    const said = 'Somebody else saved this record: here it is.';
    if (type.endsWith('deleted')) vanish();
    else if (version > (stored?.version ?? 0)) await merge(id, said).catch(() => {});
    ui.refresh();
  }

  /** Somebody deleted the record: what was typed can be a new one. */
  function vanish(): void {
    message = 'This record is deleted.';
    if (!fields.some(isTyped) || !creates(kind)) return;
    message += ' “Create” makes a new one of what is here.';
    texts = new Map(fields.map((field) => [field.name, typedText(field)]));
    stored = undefined;
  }

  function show(): ui.Html {
    const said = message === conflict && !fields.some(isTyped) ? '' : message;
    const back = html`<a href=${ui.href(kind)}>← ${heading}</a>`;
    return html`<p class="back">${reads(kind) ? back : ''}</p>
      <h1 tabindex="-1">${name()}</h1> ${stored ? facts(stored) : ''} ${ui.alertOf(said)}
      ${form()}`;
  }

  return view;
}
