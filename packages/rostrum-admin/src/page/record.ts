import { html } from 'lit-html';
import { isApiProblem, type RecordEvent, type Versioned } from 'rostrum-client';
import { labelled, meantBy } from './control.ts';
import { unescaped } from './description.ts';
import type { Field, Item, Kind } from './fields.ts';
import { controlOf, isNamed, parse, textOf, valueIn } from './fields.ts';
import { isAsking, openDialog, removal } from './removal.ts';
import { changes, creates, reads } from './rights.ts';
import { forms, learnNames, names, session } from './session.ts';
import * as ui from './ui.ts';

type Input = Record<string, unknown>;

/** A record in a form, or a new one. What others save comes in as they save it. */
export function record(kind: Kind, stored?: Versioned<Item>, author = ''): ui.View {
  const { fields } = forms[kind];
  const { one, heading, title } = ui.words[kind];
  /** What was typed, by the names of fields. */
  let texts = new Map<string, string>(author === '' ? [] : [['authorId', author]]);
  /** What somebody else changed meanwhile. Where both did there is mine, and it is open until one is chosen. */
  let changed = new Map<string, { choice: 'open' | 'mine' | 'theirs'; mine?: string }>();
  let errors = new Map<string, string>();
  let message = '';
  let isBusy = false;
  /** How many posts a user has, as far as this caller may know. */
  let posts: number | undefined;
  /** The request to which no response came yet: it makes one record, and is told from what others save. */
  let sent: { texts: ReadonlyMap<string, string>; input: Input; key: string } | undefined;
  let isGone = false;
  /** Events that came while a change of ours was under way, or asked about. */
  const missed: RecordEvent[] = [];
  const name = () => (stored === undefined ? `New ${one}` : String(stored.record[title]));
  const given = (field: Field) => valueIn(stored?.record, field, fields);
  const storedText = (field: Field) => textOf(controlOf(field, given(field)), given(field));
  const typedText = (field: Field) => texts.get(field.name) ?? storedText(field);
  const isTyped = (field: Field) => typedText(field) !== storedText(field);
  const isUndecided = () => [...changed.values()].some(({ choice }) => choice === 'open');
  // The author that a new post begins with was not typed.
  const isChanged = () =>
    fields.some((field) => isTyped(field) && typedText(field) !== (author || null));
  const view: ui.View = { title: name, show, follow, isChanged, by: session };
  if (stored !== undefined) accept(stored);

  /**
   * Shows a version of the record.
   *
   * @param saved what was typed when it was saved: what was typed since stays
   */
  function accept(now: Versioned<Item>, saved: ReadonlyMap<string, string> = texts): void {
    [stored, author, sent, isGone] = [now, '', undefined, false];
    texts = new Map([...texts].filter(([name, text]) => saved.get(name) !== text));
    [changed, errors, message] = [new Map(), new Map(), ''];
    const { id, name, authorId } = now.record;
    if (kind === 'users' && view.by === session) names.set(id, String(name));
    void learn(id, authorId).catch(() => {}); // The form does without.
  }

  /** Learns the name of a post's author, or how many posts a user has. */
  async function learn(id: string, authorId: unknown): Promise<void> {
    if (kind === 'users' && reads('posts')) {
      const query = { authorId: id, count: 'exact', limit: 1, fields: ['id'] };
      ({ total: posts } = await session.posts.list(query));
    }
    if (authorId && reads('users')) await learnNames({ id: authorId });
    ui.page.refresh();
  }

  /** Whether it is what we sent, and the response was lost. */
  function isSent(record: Item): boolean {
    const textOfAll = (item: Item) =>
      JSON.stringify(fields.map((field) => valueIn(item, field, fields)));
    return sent !== undefined && textOfAll(record) === textOfAll(sent.input as Item);
  }

  /** Brings in what somebody else saved, and keeps what was typed. */
  function merge(now: Versioned<Item>): void {
    if (view.isLeft || now.version <= (stored?.version ?? 0)) return;
    if (isSent(now.record)) {
      // The focus may be at what is said of the response that did not come.
      if (document.activeElement?.matches('.alert')) ui.focus('form.record .primary');
      accept(now, sent?.texts);
      ui.notify('Saved.');
      return;
    }
    const before = fields.map((field) => [field, storedText(field), isTyped(field)] as const);
    stored = now;
    for (const [field, was, isMine] of before) {
      if (!isMine) texts.delete(field.name);
      const both = isTyped(field) && ({ choice: 'open', mine: typedText(field) } as const);
      if (storedText(field) !== was) changed.set(field.name, both || { choice: 'theirs' });
    }
    if (fields.some(isTyped)) ui.notify('');
    else {
      accept(now);
      ui.notify('Somebody else saved this record: here it is.');
    }
  }

  /** The record as it is now, where a change was refused because it is not what it was. */
  async function current(cause: unknown, id: string): Promise<Versioned<Item>> {
    if (view.isLeft || !isApiProblem(cause, 'version-mismatch')) throw cause;
    return session[kind].get(id);
  }

  /** What is to be saved: as it is stored, with what was typed. @throws where that cannot be read */
  function read(): Input {
    const input: Input = {};
    for (const field of fields) {
      let value = given(field);
      const isNew = stored === undefined && (field.isRequired || field.name === 'publishedAt');
      try {
        if (isNew || isTyped(field))
          value = parse(field, controlOf(field, value), typedText(field));
        const others = Object.keys((field.name === '' && value) || {});
        const own = others.find((name) => isNamed(name, fields));
        if (own !== undefined) throw new Error(`"${own}" cannot be among these.`);
      } catch (error) {
        errors.set(field.name, ui.sentenceOf(error));
      }
      if (field.name === '') Object.assign(input, value);
      else if (value !== undefined) input[field.name] = value;
    }
    if (errors.size > 0) throw new Error();
    return input;
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (isUndecided()) {
      message = 'Not saved: choose first, where you both changed a field.';
      ui.page.refresh();
      return ui.focus('[data-open] button');
    }
    await settle(async () => {
      const author = texts.get('authorId') ?? '';
      const meant = await meantBy(author);
      if (author !== '' && author === texts.get('authorId')) texts.set('authorId', meant);
      const input = read();
      await (stored === undefined ? create(input) : replace(stored, input));
    });
  }

  /** Makes a change, and tells what is wrong with it. */
  async function settle(change: () => Promise<void>): Promise<void> {
    [isBusy, errors, message] = [true, new Map(), ''];
    ui.notify('');
    try {
      await change();
      if (message !== '' || changed.size > 0)
        ui.focus(isUndecided() ? '[data-open] button' : '.alert');
    } catch (error) {
      message = ui.sentenceOf(error, view);
      if (isApiProblem(error)) showErrors(error.errors);
      if (!isApiProblem(error, 'no-response')) sent = undefined;
      if (isApiProblem(error) && error.code === `${one}-not-found`) vanish();
      fail();
    }
    isBusy = false;
    catchUp();
    ui.page.refresh();
  }

  async function create(input: Input): Promise<void> {
    const isAgain = sent !== undefined;
    sent ??= { texts: new Map(texts), input, key: `admin-${Math.random()}-${Date.now()}` };
    const made = await session[kind].create(sent.input, { idempotencyKey: sent.key });
    if (reads(kind)) accept(made, sent.texts);
    else [texts, sent] = [new Map(), undefined]; // The form is for the next one.
    if (reads(kind) && !view.isLeft) {
      view.at = ui.hrefOf(kind, made.record.id);
      history.replaceState(null, '', view.at);
    }
    if (!view.isLeft) ui.focus('h1');
    ui.notify('Created.');
    // Somebody typed on after no response came to the first request.
    if (isAgain && fields.some(isTyped)) await replace(made, read());
  }

  async function replace({ record, version }: Versioned<Item>, input: Input): Promise<void> {
    sent = { texts: new Map(texts), input, key: '' };
    try {
      const now = await session[kind].replace(record.id, input, { ifMatch: version });
      accept(now, sent.texts);
    } catch (cause) {
      return merge(await current(cause, record.id));
    }
    ui.notify('Saved.');
  }

  async function remove(choice?: string): Promise<void> {
    if (stored === undefined) return;
    const { record, version } = stored;
    try {
      await session[kind].delete(record.id, { ifMatch: version, posts: choice });
    } catch (cause) {
      posts = undefined; // There may be more than were counted.
      merge(await current(cause, record.id));
      message = 'Not deleted: somebody else changed this record. Look at it as it is now.';
      return;
    }
    texts = new Map();
    if (!view.isLeft) location.hash = ui.lists.get(kind) ?? ui.href(reads(kind) ? kind : '');
    ui.notify('Deleted.');
  }

  /** Puts what is wrong to the fields where it is. */
  function showErrors(entries: readonly object[]): void {
    for (const { pointer = '', message: text } of entries as (Error & { pointer?: string })[]) {
      const key = unescaped(pointer.split('/')[1] ?? '');
      const name = offered().some((field) => field.name === key) ? key : '';
      const where = pointer === `/${name}` ? '' : `${pointer}: `;
      errors.set(name, `${errors.get(name) ?? ''} ${where}${text}`.trim());
    }
  }

  function fail(): void {
    const count = errors.size === 1 ? 'a field' : `${errors.size} fields`;
    if (errors.size > 0) message = `Not saved: something is wrong in ${count}.`;
    ui.page.refresh();
    if (view.isLeft) ui.notify(message);
    else if (message !== '' || isGone) ui.focus(errors.size > 0 ? '[aria-invalid=true]' : '.alert');
  }

  function facts({ record: { id, createdAt, updatedAt }, version }: Versioned<Item>): ui.Html {
    const path = ui.href('posts', new URLSearchParams({ authorId: id }));
    return html`<p class="soft facts"><code>${id}</code> · Created ${ui.time(createdAt)}
      ${version > 0 ? html`· Changed ${ui.time(updatedAt)} · Version ${version}` : ''}</p>
      ${posts === undefined ? '' : html`<p><a class="button" href=${path}>${ui.countOf(posts, 'posts')} of this user</a></p>`}`;
  }

  function entry(field: Field): ui.Html {
    const { name } = field;
    const { choice, mine } = changed.get(name) ?? {};
    // To type is no choice yet; over theirs, it leaves mine as it was.
    const set = (text: string, next = choice, kept = choice === 'theirs' ? mine : text) => {
      texts.set(name, text);
      message = '';
      if (next && mine !== undefined) changed.set(name, { choice: next, mine: kept ?? '' });
      ui.page.refresh();
    };
    const [control, error] = [controlOf(field, given(field)), errors.get(name) ?? ''];
    const shown = labelled({ field, control, error, text: typedText(field), set });
    const text = storedText(field);
    const theirs = (control === 'author' && names.get(text)) || text || '(empty)';
    const keep = choice === 'mine' ? 'Mine is kept' : 'Keep mine';
    const take = choice === 'theirs' ? 'Theirs is taken' : 'Take theirs';
    const both = html`<div class="field"><b>Theirs</b><pre tabindex="0" aria-label=${`${field.label}, theirs`}>${theirs}</pre>
      ${ui.button(take, () => set(text, 'theirs', mine))}</div>`;
    const hint = choice ? html`<p class="hint theirs">Changed by somebody else.</p>` : '';
    // One template: a control that is made anew loses the focus, and what is typed meanwhile.
    return html`<div class=${mine === undefined ? '' : 'both'} ?data-open=${choice === 'open'}><div>${shown}
      ${mine === undefined ? hint : ui.button(keep, () => set(mine, 'mine', mine))}</div>${mine === undefined ? '' : both}</div>`;
  }

  /** Who may write no other's posts chooses no author. */
  const offered = () =>
    fields.filter(({ control }) => control !== 'author' || session.has('posts:write'));

  function form(): ui.Html {
    const may = stored === undefined || (!isGone && changes(kind, stored.record));
    const shown = may ? offered() : fields.filter((field) => given(field) !== undefined);
    const buttons = html`<div class="bar"><button class="primary" aria-disabled=${isBusy}>${stored ? 'Save' : 'Create'}</button>
      ${stored ? ui.button('Delete…', openDialog, 'bad') : ''}</div>`;
    const chosen = (choice?: string) => isBusy || settle(() => remove(choice));
    return html`<form class="record" @submit=${save} autocomplete="off">
      <fieldset ?disabled=${!may}>${shown.map(entry)}</fieldset> ${may ? buttons : ''}</form>
      ${may && stored ? removal(kind, stored.record, posts, chosen, catchUp) : ''}`;
  }

  const catchUp = () => void follow(missed.splice(0));

  async function follow(events: readonly RecordEvent[]): Promise<void> {
    const isThis = ({ id, type }: RecordEvent) => id === stored?.record.id && type.startsWith(one);
    const last = events.findLast(isThis);
    if (last === undefined) return;
    const { id, version = 0, type } = last;
    const isDeleted = type.endsWith('deleted');
    if (!isDeleted && version <= (stored?.version ?? 0)) return;
    const now = isDeleted ? undefined : await session[kind].get(id).catch(() => undefined);
    if (isBusy || isAsking()) missed.push(last);
    else if (isDeleted) vanish();
    else if (now) merge(now);
    ui.page.refresh();
  }

  /** Somebody deleted the record: what was typed can be a new one. */
  function vanish(): void {
    [isGone, message] = [true, ''];
    if (!fields.some(isTyped) || !creates(kind)) return;
    texts = new Map(fields.map((field) => [field.name, typedText(field)]));
    [stored, sent, changed] = [undefined, undefined, new Map()];
  }

  function show(): ui.Html {
    const again = stored === undefined ? ' “Create” makes a new one of what is here.' : '';
    const todo = isUndecided()
      ? 'Choose where you both changed a field, then save.'
      : 'Look at it, and save.';
    const conflict = `Somebody else saved this record, and nothing of yours is saved yet. What they changed
      is in the form. ${todo}`;
    const isConflict = changed.size > 0 && fields.some(isTyped);
    const said =
      message || (isGone ? `This record is deleted.${again}` : isConflict ? conflict : '');
    return html`<p class="back">${reads(kind) ? html`<a href=${ui.lists.get(kind) ?? ui.href(kind)}>← ${heading}</a>` : ''}</p>
      <h1 tabindex="-1">${name()}</h1> ${stored ? facts(stored) : ''} ${ui.alertOf(said)}
      ${form()}`;
  }

  return view;
}
