import { html, noChange, nothing } from 'lit-html';
import { chips } from './chips.ts';
import { type Entry, instantOf, localOf } from './fields.ts';
import { reads } from './rights.ts';
import { learnNames, names } from './session.ts';
import * as ui from './ui.ts';

interface AuthorInput {
  readonly id: string;
  readonly about: string | typeof nothing;
  readonly invalid: 'true' | 'false';
  readonly text: string;
  readonly set: (text: string) => void;
  /** Other choices. */
  readonly more?: ReadonlyMap<string, string>;
}

/** A field for a user: it offers those whose names start with what is typed. */
export function authorInput({ id, about, invalid, text, set, more }: AuthorInput): ui.Html {
  const all = new Map([...(more ?? []), ...names]);
  const typed = (event: Event) => suggest((event.currentTarget as HTMLInputElement).value, set);
  return html`<input id=${id} list=${`${id}-list`} .value=${all.get(text) ?? text} aria-invalid=${invalid}
    placeholder=${reads('users') ? 'A name, or an id' : 'An id'} aria-describedby=${about} @input=${typed}>
    <datalist id=${`${id}-list`}>${ui.options(text, all)}</datalist>`;
}

/** The last text typed for an author. */
let typing = '';

/** Suggests users whose id or name starts with the typed text. */
async function suggest(text: string, set: (text: string) => void): Promise<void> {
  set(text);
  typing = text;
  await ui.wait(200);
  if (text === typing) await resolveUserId(text);
  ui.page.refresh();
}

/** Returns the id of the only user with this id, name or start of a name; the text if there are several, or none. */
export async function resolveUserId(typed: string): Promise<string> {
  const text = typed.trim();
  if (text === '' || names.has(text) || !reads('users')) return text;
  const queries = [{ 'name[startsWith]': text, sort: 'name', limit: 10 }, { id: text }];
  const found = await Promise.allSettled(queries.map(learnNames));
  const all = found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  const whole = all.filter(({ name }) => String(name).toLowerCase() === text.toLowerCase());
  const [one, ...more] = whole.length > 0 ? whole : all;
  return names.has(text) || one === undefined || more.length > 0 ? text : one.id;
}

const hints: Partial<Record<Entry['control'], string>> = {
  json: 'Enter JSON.',
  list: 'Enter or a comma adds what you typed.',
};

/** A field with its label, its hint, and what is wrong with it. */
export function labelled(entry: Entry): ui.Html {
  const { field, control, error } = entry;
  const id = `field-${field.name || 'others'}`;
  const hint = field.hint || hints[control];
  const about = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for=${id}>${field.label}${field.isRequired ? html` <span class="soft">required</span>` : ''}</label>
    ${input(entry, id, about || nothing)}
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : ''}
    ${error ? html`<p class="error" id=${`${id}-error`}>${error}</p>` : ''}</div>`;
}

/** A boolean. It is neither checked nor unchecked until somebody sets it: a field that is not set is not No. */
function checkbox({ field, text, error, set }: Entry, id: string, about: string | typeof nothing) {
  const isSet = text === 'true' || text === 'false';
  const toggle = (event: Event) => set(`${(event.currentTarget as HTMLInputElement).checked}`);
  const clear = () => {
    document.getElementById(id)?.focus(); // The button disappears.
    set('');
  };
  return html`<div class="bar"><input id=${id} type="checkbox" .checked=${text === 'true'} .indeterminate=${!isSet}
    aria-invalid=${error ? 'true' : 'false'} aria-describedby=${about} @change=${toggle}>
    ${
      text === ''
        ? html`<span class="soft">Not set</span>`
        : html`<button type="button" aria-label=${`Clear ${field.label}`} @click=${clear}>Clear</button>`
    }</div>`;
}

function input(entry: Entry, id: string, about: string | typeof nothing): ui.Html {
  const { field, control, text, error, set } = entry;
  const invalid = error ? 'true' : 'false';
  const textIn = (event: Event) => (event.currentTarget as HTMLInputElement).value;
  const typed = (event: Event) => set(textIn(event));
  const select = (all: ui.Choices) =>
    html`<select id=${id} aria-invalid=${invalid} aria-describedby=${about} @change=${typed}>${ui.options(text, all)}</select>`;
  switch (control) {
    case 'long':
    case 'json':
      return html`<textarea id=${id} class=${control} .value=${text}
        spellcheck=${control === 'long'} aria-required=${field.isRequired} aria-invalid=${invalid} aria-describedby=${about} @input=${typed}></textarea>`;
    case 'choice': {
      const isBoolean =
        field.choices.length === 2 && [true, false].every((one) => field.choices.includes(one));
      if (isBoolean && /^(?:true|false|null)?$/.test(text)) return checkbox(entry, id, about);
      // A stored value that is no choice any more stays one.
      const choices = field.choices.map((one) => [JSON.stringify(one), ui.wordOf(one)] as const);
      return select(new Map([['', 'Not set'], [text, text || 'Not set'], ...choices]));
    }
    case 'publication': {
      const isTime = text !== 'draft' && text !== 'now';
      const isLate = text === '' || Date.parse(text) > Date.now();
      const tomorrow = new Date(Math.ceil(Date.now() / 3.6e6) * 3.6e6 + 8.64e7).toISOString();
      const at = isTime
        ? { [text]: isLate ? 'Scheduled' : 'Published' }
        : { [tomorrow]: 'At a time…' };
      const pick = (event: Event) => set(instantOf(textIn(event)));
      // A part of a time stays in the browser's field until the rest is typed. The maximum keeps
      // Chromium from taking a year of six digits.
      const value = text === '' ? noChange : localOf(text);
      const all = Object.entries({ draft: 'Draft', now: 'Publish now', ...at });
      return html`<div class="bar">${select(all)}
        ${isTime ? html`<input type="datetime-local" max="9999-12-31T23:59" aria-label="Time of publication" aria-invalid=${invalid} .value=${value} @change=${pick}>` : ''}</div>`;
    }
    case 'list':
      return chips(entry, id, about);
    case 'author':
      return authorInput({ id, about, invalid, text, set });
    default:
      // For numbers too: on a phone, the keys for decimals may lack the minus sign or the point.
      return html`<input id=${id} .value=${text} aria-required=${field.isRequired} aria-invalid=${invalid} aria-describedby=${about} @input=${typed}>`;
  }
}
