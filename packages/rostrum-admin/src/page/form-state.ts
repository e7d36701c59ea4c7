// What a form knows: the stored record, what was typed, what others saved meanwhile, and the request that
// has no response yet. All functions are pure: they return a new state, and the page shows it.

import type { Outcome, Versioned } from 'rostrum-client';
import { memberOf, unescaped } from './description.ts';
import { controlOf, type Field, type Item, isNamed, parse, textOf, valueIn } from './fields.ts';

export type Input = Readonly<Record<string, unknown>>;
type Texts = ReadonlyMap<string, string>;

/** A field that someone else changed while the form was open. */
export interface Change {
  /** `open` until the user chooses one of two texts. */
  readonly choice: 'open' | 'mine' | 'theirs';
  /** The user's own text, if both changed the field. */
  readonly mine?: string;
}

/** A request whose outcome is not known yet. */
export interface Sent {
  readonly texts: Texts;
  readonly input: Input;
  readonly key: string;
}

export interface FormState {
  readonly fields: readonly Field[];
  /** The stored record that the texts are compared with; undefined for a new record. */
  readonly base: Versioned<Item> | undefined;
  /** The author that a new post starts with, which the user did not type. */
  readonly author: string;
  /** The typed texts, by the names of fields. */
  readonly texts: Texts;
  readonly changes: ReadonlyMap<string, Change>;
  readonly sent: Sent | undefined;
  readonly isDeleted: boolean;
  readonly errors: ReadonlyMap<string, string>;
  readonly message: string;
}

const nothingWrong = { errors: new Map<string, string>(), message: '' };

export function startForm(
  fields: readonly Field[],
  base?: Versioned<Item>,
  author = '',
): FormState {
  const texts = new Map(author === '' ? [] : [['authorId', author]]);
  const clean = { changes: new Map(), sent: undefined, isDeleted: false, ...nothingWrong };
  return { fields, base, author, texts, ...clean };
}

export const storedValue = ({ base, fields }: FormState, field: Field) =>
  valueIn(base?.record, field, fields);

export function storedText(form: FormState, field: Field): string {
  const value = storedValue(form, field);
  return textOf(controlOf(field, value), value);
}

export const textIn = (form: FormState, field: Field) =>
  form.texts.get(field.name) ?? storedText(form, field);

const isTyped = (form: FormState, field: Field) => textIn(form, field) !== storedText(form, field);

export const isAnyTyped = (form: FormState) => form.fields.some((field) => isTyped(form, field));

/** True if leaving the form would lose text. */
export function isUnsaved(form: FormState): boolean {
  const { fields, author } = form;
  return fields.some((field) => isTyped(form, field) && textIn(form, field) !== (author || null));
}

/** True if a field that both changed still needs a choice. */
export const isUndecided = ({ changes }: FormState) =>
  [...changes.values()].some(({ choice }) => choice === 'open');

/** Typing does not choose. Over a chosen text of theirs, it keeps the user's own for later. */
export function typeText(form: FormState, name: string, text: string): FormState {
  const change = form.changes.get(name);
  const isKept = change?.mine === undefined || change.choice === 'theirs';
  const changes = isKept ? form.changes : withEntry(form.changes, name, { ...change, mine: text });
  return { ...form, texts: withEntry(form.texts, name, text), changes, message: '' };
}

/** Chooses one of two texts. The user can change their mind until the form is saved. */
export function choose(form: FormState, field: Field, choice: 'mine' | 'theirs'): FormState {
  const { mine = '' } = form.changes.get(field.name) ?? {};
  const text = choice === 'mine' ? mine : storedText(form, field);
  const changes = withEntry(form.changes, field.name, { choice, mine });
  return { ...form, texts: withEntry(form.texts, field.name, text), changes, message: '' };
}

/**
 * Shows a stored version.
 *
 * @param saved the texts of the request that saved it: what was typed after it stays
 */
export function accept(form: FormState, base: Versioned<Item>, saved = form.texts): FormState {
  const texts = new Map([...form.texts].filter(([name, text]) => saved.get(name) !== text));
  return { ...startForm(form.fields, base), texts };
}

/** Merges a version that can be someone else's, and keeps typed text. */
export function merge(
  form: FormState,
  now: Versioned<Item>,
): { readonly form: FormState; readonly result: 'old' | 'saved' | 'replaced' | 'merged' } {
  const { fields, sent, base } = form;
  if (base !== undefined && now.version <= base.version) return { form, result: 'old' };
  if (sent !== undefined && isSame(now.record, sent.input, fields))
    return { form: accept(form, now, sent.texts), result: 'saved' };
  const texts = new Map(form.texts);
  const changes = new Map(form.changes);
  const merged = { ...form, base: now, texts, changes };
  for (const field of fields) {
    const { name } = field;
    if (!isTyped(form, field)) texts.delete(name);
    const isBoth = isTyped(merged, field);
    if (storedText(merged, field) === storedText(form, field)) continue;
    changes.set(
      name,
      isBoth ? { choice: 'open', mine: textIn(merged, field) } : { choice: 'theirs' },
    );
  }
  if (isAnyTyped(merged)) return { form: merged, result: 'merged' };
  return { form: accept(form, now), result: 'replaced' };
}

/** True if a record equals the input of a request. The server removes white space around some texts. */
function isSame(record: Item, input: Input, fields: readonly Field[]): boolean {
  const valuesOf = (item: object) =>
    JSON.stringify(fields.map((field) => valueIn(item as Item, field, fields)).map(trimmed));
  return valuesOf(record) === valuesOf(input);
}

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

/** Shows that the record is gone. The typed text can become a new record. */
export function markDeleted(form: FormState, canCreate: boolean): FormState {
  const gone = { ...form, isDeleted: true, message: '' };
  if (!isAnyTyped(form) || !canCreate) return gone;
  const texts = new Map(form.fields.map((field) => [field.name, textIn(form, field)]));
  return { ...gone, base: undefined, texts, sent: undefined, changes: new Map() };
}

/**
 * Returns what to save: the stored values, and what was typed. A field that was not typed in keeps its value,
 * even one that could not be typed.
 */
export function readInput(form: FormState): { input: Input; errors: Texts } {
  const input: Record<string, unknown> = {};
  const errors = new Map<string, string>();
  for (const field of form.fields) {
    const { name, isRequired } = field;
    const isNew = form.base === undefined && (isRequired || name === 'publishedAt');
    let value = storedValue(form, field);
    try {
      if (isNew || isTyped(form, field))
        value = parse(field, controlOf(field, value), textIn(form, field));
      if (name === '') checkNames(Object.keys(value ?? {}), form.fields);
    } catch (error) {
      errors.set(name, (error as Error).message);
    }
    if (name === '') Object.assign(input, value);
    else if (value !== undefined) input[name] = value;
  }
  return { input, errors };
}

function checkNames(names: readonly string[], fields: readonly Field[]): void {
  const name = names.find((name) => isNamed(name, fields));
  if (name !== undefined) throw new Error(`"${name}" cannot be among these.`);
}

/** Remembers a request until its response. A creation with an unknown outcome is repeated unchanged, under its key. */
export function send(form: FormState, input: Input, key = ''): FormState & { readonly sent: Sent } {
  const again = form.base === undefined ? form.sent : undefined;
  return { ...form, sent: again ?? { texts: form.texts, input, key } };
}

export function showErrors(form: FormState, errors: Texts): FormState {
  const count = errors.size === 1 ? 'a field' : `${errors.size} fields`;
  return { ...form, errors, message: `Not saved: something is wrong in ${count}.` };
}

/** The parts of an error that a form shows. */
export interface Refusal {
  /** `none` if the server said that nothing was changed; then a new request can be sent. */
  readonly outcome: Outcome;
  readonly errors: readonly object[];
  readonly message: string;
}

/**
 * Shows why a request failed, each error at its field.
 *
 * @param names the fields that the form shows; errors in others are shown at the other custom fields
 */
export function refuse(form: FormState, refusal: Refusal, names: ReadonlySet<string>): FormState {
  const sent = refusal.outcome === 'unknown' ? form.sent : undefined;
  const errors = new Map<string, string>();
  for (const { pointer = '', message } of refusal.errors as readonly PointedError[]) {
    const [key = '', ...within] = pointer.split('/').slice(1).map(unescaped);
    const name = names.has(key) ? key : '';
    const value = name === key && within.reduce(memberOf, form.sent?.input[key]);
    const place = typeof value === 'string' ? `“${shortened(value)}”` : pointer;
    const where = name === key && within.length === 0 ? '' : `${place}: `;
    errors.set(name, `${errors.get(name) ?? ''} ${where}${message}`.trim());
  }
  if (errors.size > 0) return showErrors({ ...form, sent }, errors);
  return { ...form, sent, errors, message: refusal.message };
}

function shortened(text: string): string {
  const [...characters] = text;
  return characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : text;
}

interface PointedError {
  readonly pointer?: string;
  readonly message: string;
}

/** The form without what was wrong with the last request. */
export const withoutErrors = (form: FormState): FormState => ({ ...form, ...nothingWrong });

/** The alert of the form. */
export function alertIn(form: FormState): string {
  if (form.message !== '') return form.message;
  if (form.isDeleted) {
    const again = form.base === undefined ? ' “Create” creates a new one from this form.' : '';
    return `This record has been deleted.${again}`;
  }
  if (form.changes.size === 0 || !isAnyTyped(form)) return '';
  const next = isUndecided(form)
    ? 'You both changed a field: choose whose text to keep, then save.'
    : 'Check the form, then save.';
  return `Someone else saved this record. Their changes are in the form; yours are not saved yet. ${next}`;
}

function withEntry<T>(map: ReadonlyMap<string, T>, name: string, value: T): ReadonlyMap<string, T> {
  return new Map([...map, [name, value]]);
}
