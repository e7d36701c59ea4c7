import { html, nothing } from 'lit-html';
import type { Field } from './fields.ts';
import { type Html, options, refresh, time } from './page.ts';
import { reads, session } from './session.ts';

interface Parts {
  readonly field: Field;
  readonly kind: Field['kind'];
  readonly text: string;
  readonly stored: unknown;
  readonly error: string;
  readonly isDisabled: boolean;
  readonly set: (text: string) => void;
}

/** Users whose names begin as the text does, by their ids: for the field of an author. */
let suggested: readonly [string, string][] = [];
let asked = '';

async function suggest(text: string): Promise<void> {
  if (!reads('users') || text === '' || text === asked) return;
  asked = text;
  const byName = { 'name[startsWith]': text, sort: 'name', limit: 10, fields: ['name'] };
  const pages = [session.users.list(byName), session.users.list({ id: text, fields: ['name'] })];
  const found = (await Promise.all(pages).catch(() => [])).flatMap(({ items }) => items);
  if (asked === text) suggested = found.map(({ id, name }) => [id, String(name)]);
  refresh();
}

/** A field with its label, its hint, and what is wrong with it. */
export function control(parts: Parts): Html {
  const { field, error, text } = parts;
  const id = `field-${field.name || 'others'}`;
  if (parts.kind === 'author') void suggest(text);
  const author = parts.kind === 'author' && suggested.find(([id]) => id === text)?.[1];
  const hint = [field.hint, author && `This is ${author}.`].filter(Boolean).join(' ');
  const names = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return html`<div class="field">
    <label for=${id}>${field.label}${field.isRequired ? html` <span class="soft">required</span>` : ''}</label>
    ${input(parts, id, names || nothing)}
    ${hint ? html`<p class="hint" id=${`${id}-hint`}>${hint}</p>` : ''}
    ${error ? html`<p class="error" id=${`${id}-error`}>${error}</p>` : ''}</div>`;
}

type Describedby = string | typeof nothing;

function input(parts: Parts, id: string, by: Describedby): Html {
  const { field, kind, text, error, isDisabled, set } = parts;
  const invalid = error ? 'true' : 'false';
  const typed = (event: Event) => set((event.currentTarget as HTMLInputElement).value);
  switch (kind) {
    case 'long':
    case 'json':
      return html`<textarea id=${id} class=${kind} rows=${kind === 'json' ? 4 : 10} .value=${text} ?readonly=${isDisabled}
        spellcheck=${kind === 'long' ? 'true' : 'false'} aria-invalid=${invalid} aria-describedby=${by} @input=${typed}></textarea>`;
    case 'flag':
    case 'choice': {
      const values = kind === 'flag' ? [true, false] : field.choices;
      const names = new Map<unknown, string>([
        [true, 'Yes'],
        [false, 'No'],
      ]);
      const all = values.map(
        (value) => [JSON.stringify(value), names.get(value) ?? String(value)] as const,
      );
      const isOther = text !== '' && !all.some(([value]) => value === text);
      return html`<select id=${id} ?disabled=${isDisabled} aria-invalid=${invalid} aria-describedby=${by} @change=${typed}>
        ${options([['', '–'], ...(isOther ? [[text, text] as const] : []), ...all], text)}</select>`;
    }
    case 'publication':
      return publicationInput(parts, id, by);
    case 'author':
      return html`<input id=${id} list=${`${id}-list`} .value=${text} ?readonly=${isDisabled} aria-invalid=${invalid}
        placeholder="The beginning of a name, or an id" aria-describedby=${by} @input=${typed}>
        <datalist id=${`${id}-list`}>${options(suggested, text)}</datalist>`;
    default:
      return html`<input id=${id} .value=${text} ?readonly=${isDisabled} inputmode=${kind === 'number' ? 'decimal' : 'text'}
        aria-required=${field.isRequired} aria-invalid=${invalid} aria-describedby=${by} @input=${typed}>`;
  }
}

/** A draft, published, or at a time; a time of this place, as the browser writes it. */
function publicationInput(parts: Parts, id: string, by: Describedby): Html {
  const { text, stored, isDisabled, error, set } = parts;
  const was = typeof stored === 'string' ? stored : undefined;
  const state = text === 'draft' || text === 'now' ? text : text === was ? 'was' : 'at';
  const choose = (event: Event) => {
    const value = (event.currentTarget as HTMLSelectElement).value;
    const tomorrow = new Date(Math.ceil(Date.now() / 3.6e6) * 3.6e6 + 8.64e7).toISOString();
    set(value === 'was' ? (was ?? '') : value === 'at' ? tomorrow : value);
  };
  const isLate = was !== undefined && Date.parse(was) > Date.now();
  const states = {
    ...(was !== undefined && { was: isLate ? 'Scheduled' : 'Published' }),
    draft: 'Draft',
    now: was === undefined ? 'Publish now' : 'Publish anew, now',
    at: 'At a time…',
  };
  const at = new Date(text);
  const local = Number.isNaN(at.getTime()) ? '' : localOf(at);
  const pick = (event: Event) => {
    const picked = new Date((event.currentTarget as HTMLInputElement).value);
    if (!Number.isNaN(picked.getTime())) set(picked.toISOString());
  };
  return html`<div class="bar"><select id=${id} ?disabled=${isDisabled} aria-describedby=${by} aria-invalid=${error ? 'true' : 'false'} @change=${choose}>
    ${options(Object.entries(states), state)}</select>
    ${state === 'was' ? html`<span class="soft">${time(was)}</span>` : ''}
    ${state === 'at' ? html`<input type="datetime-local" aria-label="Time of publication" .value=${local} @change=${pick}>` : ''}</div>`;
}

function localOf(at: Date): string {
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
