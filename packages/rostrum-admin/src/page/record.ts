import { isApiProblem, type RecordEvent, type Versioned } from 'rostrum-client';
import { resolveUserId } from './control.ts';
import type { Field, Item, Kind } from './fields.ts';
import * as state from './form-state.ts';
import { offered, recordView } from './record-view.ts';
import { isAsking } from './removal.ts';
import { creates, createsItself, reads } from './rights.ts';
import { forms, learnNames, names, session } from './session.ts';
import * as ui from './ui.ts';

/** The record to open: a stored one, or a new one. */
interface Opened {
  readonly id: string;
  readonly stored: Versioned<Item> | undefined;
  /** The author that a new post starts with. */
  readonly author: string;
}

/** A record in a form: sends what `form-state.ts` says, and tells it what comes back. */
export function record(kind: Kind, { id, stored, author }: Opened): ui.View {
  const { one } = ui.words[kind];
  /** True for the caller's own user, whose id is the subject of the credentials. */
  const isOwn = kind === 'users' && id !== '' && id === session.subject;
  const canCreate = () => creates(kind) || (isOwn && createsItself());
  const canRead = () => reads(kind) || (isOwn && session.has('users:write:own'));
  let form = state.startForm(forms[kind].fields, stored, author);
  let isBusy = false;
  /** True if the last error is the server's response to the form. */
  let isSending = false;
  /** The number of the user's posts, if this caller can count them. */
  let posts: number | undefined;
  /** Events that arrived while the form was busy, or asked whether to delete. */
  const missed: RecordEvent[] = [];
  const view: ui.View = {
    title() {
      if (form.base !== undefined) return ui.titleOf(kind, form.base.record);
      return isOwn ? 'My account' : `New ${one}`;
    },
    show: () => recordView({ kind, form, posts, isBusy, isOwn, title: view.title() }, actions),
    isChanged: () => state.isUnsaved(form),
    follow,
    by: session,
  };
  const actions = {
    type: (name: string, text: string) => show(state.typeText(form, name, text)),
    choose: (field: Field, choice: 'mine' | 'theirs') => show(state.choose(form, field, choice)),
    save,
    remove: (choice?: string) => void (isBusy || settle(() => remove(choice))),
    closed: catchUp,
  };
  if (stored !== undefined) learn(stored);

  function show(next: state.FormState): void {
    form = next;
    ui.page.refresh();
  }

  function accept(now: Versioned<Item>, saved?: ReadonlyMap<string, string>): void {
    form = state.accept(form, now, saved);
    learn(now);
  }

  /** Learns the name of a post's author, or how many posts a user has. */
  function learn({ record: { id, name, authorId } }: Versioned<Item>): void {
    if (kind === 'users' && view.by === session) names.set(id, String(name));
    const query = { authorId: id, count: 'exact', limit: 1, fields: ['id'] };
    const counted =
      kind === 'users' && reads('posts')
        ? session.posts.list(query).then(({ total }) => {
            posts = total;
          })
        : undefined;
    const learnt = authorId && reads('users') ? learnNames({ id: authorId }) : undefined;
    // The form does without what cannot be learnt.
    void Promise.allSettled([counted, learnt]).then(() => ui.page.refresh());
  }

  /** Merges a version that can be someone else's. */
  function merge(now: Versioned<Item>): void {
    if (view.isLeft) return;
    const merged = state.merge(form, now);
    form = merged.form;
    if (merged.result === 'saved' || merged.result === 'replaced') learn(now);
    // The focus can be at the alert about the missing response.
    const isAtAlert = document.activeElement?.matches('.alert') === true;
    if (merged.result === 'saved' && isAtAlert) ui.focus('form.record .primary');
    if (merged.result !== 'old') ui.notify(said[merged.result]);
  }

  /** Returns the record as it is now, if a request was refused because the record has changed. */
  async function current(cause: unknown, id: string): Promise<Versioned<Item>> {
    if (view.isLeft || !isApiProblem(cause, 'version-mismatch')) throw cause;
    return session[kind].get(id);
  }

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy) return;
    if (state.isUndecided(form)) {
      const message = 'Not saved. You both changed a field: choose whose text to keep.';
      show({ ...form, message });
      return ui.focus('[data-open] button');
    }
    await settle(async () => {
      await resolveAuthor();
      const { input, errors } = state.readInput(form);
      if (errors.size > 0) return fail(state.showErrors(form, errors));
      await (form.base === undefined ? create(input) : replace(form.base, input));
    });
  }

  /** Replaces the beginning of a name with the id of the one user it means. */
  async function resolveAuthor(): Promise<void> {
    const typed = form.texts.get('authorId') ?? '';
    if (typed === '') return;
    const meant = await resolveUserId(typed);
    // The text can have changed meanwhile.
    if (form.texts.get('authorId') === typed) form = state.typeText(form, 'authorId', meant);
  }

  /** Makes a change, and shows what is wrong with it. */
  async function settle(change: () => Promise<void>): Promise<void> {
    isBusy = true;
    isSending = false;
    form = state.withoutErrors(form);
    ui.notify('');
    try {
      await change();
      const isAlerted = form.message !== '' || form.changes.size > 0;
      if (isAlerted && form.errors.size === 0)
        ui.focus(state.isUndecided(form) ? '[data-open] button' : '.alert');
    } catch (error) {
      const message = ui.sentenceOf(error, view);
      const problem = isApiProblem(error) ? error : undefined;
      const { code = '', errors = [] } = problem ?? {};
      const outcome = isSending ? (problem?.outcome ?? 'none') : 'unknown';
      const shown = new Set(offered(form.fields).map(({ name }) => name));
      const refused = state.refuse(form, { outcome, errors, message }, shown);
      const isGone = code === `${one}-not-found`;
      fail(isGone ? state.markDeleted(refused, canCreate()) : refused);
    }
    isBusy = false;
    catchUp();
    ui.page.refresh();
  }

  function fail(next: state.FormState): void {
    show(next);
    if (view.isLeft) ui.notify(next.message);
    else if (next.message !== '' || next.isDeleted)
      ui.focus(next.errors.size > 0 ? '[aria-invalid=true]' : '.alert');
  }

  async function create(input: state.Input): Promise<void> {
    const isAgain = form.sent !== undefined;
    const sending = state.send(form, input, `admin-${Math.random()}-${Date.now()}`);
    form = sending;
    const { sent } = sending;
    isSending = true;
    const made = await sendNew(sent);
    if (made === undefined) return;
    if (canRead()) accept(made, sent.texts);
    else form = state.startForm(form.fields); // The form is for the next record.
    if (canRead() && !view.isLeft) {
      view.at = ui.hrefOf(kind, made.record.id);
      history.replaceState(null, '', view.at);
    }
    if (!view.isLeft) ui.focus('h1');
    ui.notify('Created.');
    // The user typed on after the first request got no response.
    if (!isAgain || !state.isAnyTyped(form)) return;
    const { input: next, errors } = state.readInput(form);
    if (errors.size > 0) fail(state.showErrors(form, errors));
    else await replace(made, next);
  }

  /** Returns undefined if the caller's own user exists by now: it is merged. */
  async function sendNew({ input, key }: state.Sent): Promise<Versioned<Item> | undefined> {
    if (!isOwn) return session[kind].create(input, { idempotencyKey: key });
    try {
      return await session.me.save(input, { ifNoneMatch: '*' });
    } catch (cause) {
      merge(await current(cause, id));
      return undefined;
    }
  }

  async function replace({ record, version }: Versioned<Item>, input: state.Input): Promise<void> {
    const sending = state.send(form, input);
    form = sending;
    isSending = true;
    try {
      const now = await session[kind].replace(record.id, input, { ifMatch: version });
      accept(now, sending.sent.texts);
    } catch (cause) {
      return merge(await current(cause, record.id));
    }
    ui.notify(said.saved);
  }

  async function remove(choice?: string): Promise<void> {
    if (form.base === undefined) return;
    const { record, version } = form.base;
    try {
      await session[kind].delete(record.id, { ifMatch: version, posts: choice });
    } catch (cause) {
      posts = undefined; // There may be more than were counted.
      merge(await current(cause, record.id));
      const message =
        'Not deleted: someone else changed this record. Check the new version before you delete it.';
      form = { ...form, message };
      return;
    }
    form = state.startForm(form.fields, form.base);
    if (!view.isLeft) location.hash = ui.lists.get(kind) ?? ui.href(reads(kind) ? kind : '');
    ui.notify('Deleted.');
  }

  function catchUp(): void {
    void follow(missed.splice(0));
  }

  async function follow(events: readonly RecordEvent[]): Promise<void> {
    const isThis = ({ id, type }: RecordEvent) =>
      id === form.base?.record.id && type.startsWith(one);
    const last = events.findLast(isThis);
    if (last === undefined) return;
    const { id, version = 0, type } = last;
    const isDeleted = type.endsWith('deleted');
    if (!isDeleted && version <= (form.base?.version ?? 0)) return;
    const now = isDeleted ? undefined : await session[kind].get(id).catch(() => undefined);
    if (isBusy || isAsking()) missed.push(last);
    else if (isDeleted) form = state.markDeleted(form, canCreate());
    else if (now) merge(now);
    ui.page.refresh();
  }

  return view;
}

/** The notice about a version that arrived. */
const said = {
  saved: 'Saved.',
  replaced: "Someone else saved this record. You're looking at the new version.",
  merged: '',
} as const;
