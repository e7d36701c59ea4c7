import { html } from 'lit-html';
import type { Versioned } from 'rostrum-client';
import { labelled } from './control.ts';
import { controlOf, type Field, type Item, type Kind } from './fields.ts';
import { alertIn, type FormState, storedText, storedValue, textIn } from './form-state.ts';
import { openDialog, removal } from './removal.ts';
import { changes, reads } from './rights.ts';
import { names, session } from './session.ts';
import * as ui from './ui.ts';

/** The data of a record's view. */
interface Shown {
  readonly kind: Kind;
  readonly form: FormState;
  readonly title: string;
  /** The number of the user's posts, where it is known. */
  readonly posts: number | undefined;
  readonly isBusy: boolean;
  /** True for the caller's own user. */
  readonly isOwn: boolean;
}

/** The actions of the view. */
interface Actions {
  type(name: string, text: string): void;
  choose(field: Field, choice: 'mine' | 'theirs'): void;
  save(event: Event): void;
  remove(posts?: 'keep' | 'delete'): void;
  /** The question of a deletion was closed. */
  closed(): void;
}

/** The fields that this caller can choose: the author of a post only with `posts:write`. */
export const offered = (fields: readonly Field[]) =>
  fields.filter(({ control }) => control !== 'author' || session.has('posts:write'));

export function recordView(shown: Shown, actions: Actions): ui.Html {
  const { kind, form, title, posts, isOwn } = shown;
  const missing = html`<p>You have no user yet. Create it here.</p>`;
  const isMissing = isOwn && form.base === undefined && !form.isDeleted;
  const back = html`<a href=${ui.lists.get(kind) ?? ui.href(kind)}>← ${ui.words[kind].heading}</a>`;
  return html`<p class="back">${reads(kind) ? back : ''}</p>
    <h1 tabindex="-1">${title}</h1> ${form.base ? facts(form.base, posts) : isMissing ? missing : ''} ${ui.alertOf(alertIn(form))}
    ${formView(shown, actions)}`;
}

function facts({ record, version }: Versioned<Item>, posts: number | undefined): ui.Html {
  const { id, createdAt, updatedAt } = record;
  const path = ui.href('posts', new URLSearchParams({ authorId: id }));
  return html`<p class="soft facts"><code>${id}</code> · Created ${ui.time(createdAt)}
    ${version > 0 ? html`· Changed ${ui.time(updatedAt)} · Version ${version}` : ''}</p>
    ${posts === undefined ? '' : html`<p><a class="button" href=${path}>${ui.countOf(posts, 'posts')} of this user</a></p>`}`;
}

function formView({ kind, form, title, posts, isBusy }: Shown, actions: Actions): ui.Html {
  const { base, fields, isDeleted } = form;
  const isEditable = base === undefined || (!isDeleted && changes(kind, base.record));
  const shown = isEditable
    ? offered(fields)
    : fields.filter((field) => storedValue(form, field) !== undefined);
  const buttons = html`<div class="bar"><button class="primary" aria-disabled=${isBusy}>${base ? 'Save' : 'Create'}</button>
    ${base ? ui.button('Delete…', openDialog, 'bad') : ''}</div>`;
  return html`<form class="record" @submit=${actions.save} autocomplete="off" novalidate>
    <fieldset ?disabled=${!isEditable}>${shown.map((field) => entry(form, field, actions))}</fieldset> ${isEditable ? buttons : ''}</form>
    ${isEditable && base ? removal(kind, base.record, title, posts, actions.remove, actions.closed) : ''}`;
}

/** A field; beside it the text of someone else, where both changed it. */
function entry(form: FormState, field: Field, { type, choose }: Actions): ui.Html {
  const { choice, mine } = form.changes.get(field.name) ?? {};
  const control = controlOf(field, storedValue(form, field));
  const error = form.errors.get(field.name) ?? '';
  const set = (text: string) => type(field.name, text);
  const shown = labelled({ field, control, error, text: textIn(form, field), set });
  const stored = storedText(form, field);
  const name = control === 'author' && names.get(stored);
  const words = ['choice', 'list'].includes(control) ? ui.wordOf(storedValue(form, field)) : stored;
  const theirs = name || words || '(empty)';
  const take = choice === 'theirs' ? 'Theirs is taken' : 'Take theirs';
  const keep = choice === 'mine' ? 'Mine is kept' : 'Keep mine';
  const both = html`<div class="field"><b>Theirs</b><pre tabindex="0" aria-label=${`${field.label}, theirs`}>${theirs}</pre>
    ${ui.button(take, () => choose(field, 'theirs'))}</div>`;
  const hint = choice ? html`<p class="hint theirs">Changed by someone else.</p>` : '';
  // One template: a control that is created anew loses the focus, and what is typed meanwhile.
  return html`<div class=${mine === undefined ? '' : 'both'} ?data-open=${choice === 'open'}><div>${shown}
    ${mine === undefined ? hint : ui.button(keep, () => choose(field, 'mine'))}</div>${mine === undefined ? '' : both}</div>`;
}
