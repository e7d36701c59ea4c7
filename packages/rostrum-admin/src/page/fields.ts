import { type Description, resolved, type Schema } from './description.ts';

export type Kind = 'users' | 'posts';

export interface Item {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A field of a form, as the description of the API has it. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly control:
    | 'line'
    | 'long'
    | 'number'
    | 'choice'
    | 'list'
    | 'json'
    | 'author'
    | 'publication';
  readonly hint: string;
  readonly isRequired: boolean;
  /** The value of an empty text; undefined leaves the field out. */
  readonly empty: unknown;
  readonly choices: readonly unknown[];
}

/** The text in a field, and its hint and error. */
export interface Entry {
  readonly field: Field;
  readonly control: Field['control'];
  readonly text: string;
  readonly error: string;
  readonly set: (text: string) => void;
}

/** A custom field that the server was told about: lists can be filtered by it. */
export interface Declared extends Pick<Field, 'name' | 'label' | 'choices'> {
  readonly type: Schema['type'];
  readonly isSortable: boolean;
}

/** The fields of users or posts in the description. */
export interface Form {
  readonly fields: readonly Field[];
  readonly declared: readonly Declared[];
}

/** The fields that the server makes, and what can be none. */
const made = new Set(['id', 'createdAt', 'updatedAt', '__proto__']);
const known: Readonly<Record<Kind, Readonly<Record<string, Partial<Field>>>>> = {
  users: { name: { empty: '' }, email: { empty: null, label: 'Email address' } },
  posts: {
    title: { empty: '' },
    body: { empty: '', control: 'long' },
    authorId: { empty: null, control: 'author', label: 'Author' },
    publishedAt: { control: 'publication', label: 'Publication' },
  },
};
/** Custom fields that the schema does not name, as one object. */
const others: Field = {
  ...{ name: '', label: 'Other custom fields', control: 'json', isRequired: false, choices: [] },
  ...{ empty: undefined, hint: 'A JSON object: {"colour": "blue"}.' },
};
/** Parameters of lists that are not a filter on a custom field. */
const general = new Set(['limit', 'cursor', 'sort', 'count', 'fields', 'include', 'id']);

export function formsOf(description: Description): Readonly<Record<Kind, Form>> {
  const { schemas } = description.components;
  const formOf = (kind: Kind, one: string): Form => {
    const { properties = {}, required = [] } = schemas[`${one}Input`] ?? {};
    const parameters = (description.paths[`/${kind}`]?.get?.parameters ?? []).flatMap(
      ({ name = '', in: place, schema = {} }) => (place === 'query' ? [{ name, schema }] : []),
    );
    const sorts = parameters.find(({ name }) => name === 'sort')?.schema.enum ?? [];
    const filters = parameters.filter(
      ({ name }) => !Object.hasOwn(known[kind], name) && !general.has(name) && !name.includes('['),
    );
    const fields = Object.entries(properties)
      .filter(([name]) => !made.has(name))
      .map(([name, schema]) =>
        fieldOf(known[kind], name, resolved(schema, description), {
          isRequired: required.includes(name),
          isDeclared: filters.some((filter) => filter.name === name),
        }),
      );
    const declared = filters.map(({ name, schema }) => {
      const { label = name, choices = [] } = fields.find((field) => field.name === name) ?? {};
      return { name, label, choices, type: schema.type, isSortable: sorts.includes(name) };
    });
    return { fields: [...fields, others], declared };
  };
  return { users: formOf('users', 'User'), posts: formOf('posts', 'Post') };
}

function fieldOf(
  known: Readonly<Record<string, Partial<Field>>>,
  name: string,
  schema: Schema,
  { isRequired, isDeclared }: { readonly isRequired: boolean; readonly isDeclared: boolean },
): Field {
  const type = [schema.type ?? []].flat().find((one) => one !== 'null');
  const choices = schema.enum ?? (type === 'boolean' ? [true, false] : []);
  // A declared text is what lists are filtered by: a slug, a section.
  const text = (schema.maxLength ?? 0) > 300 && !isDeclared ? 'long' : 'line';
  const array = schema.items?.type === 'string' ? 'list' : 'json';
  const controls: Readonly<Record<string, Field['control']>> = {
    ...{ string: text, number: 'number', integer: 'number', array },
  };
  const control = choices.length > 0 ? 'choice' : (controls[type ?? ''] ?? 'json');
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  const label = schema.title ?? words.charAt(0).toUpperCase() + words.slice(1);
  const own = Object.hasOwn(known, name) ? known[name] : undefined;
  const hint = own ? '' : (schema.description ?? '');
  const empty = isRequired && control === 'list' ? [] : undefined;
  return { ...{ name, label, control, hint, isRequired, choices, empty }, ...own };
}

/** A stored value of another type than the schema has now is shown, and changed, as JSON. */
export function controlOf({ control }: Field, value: unknown): Field['control'] {
  if (control === 'line' && typeof value === 'string' && value.includes('\n')) return 'long';
  if (value === undefined || value === null || control === 'choice') return control;
  if (control === 'list') return isTexts(value) ? 'list' : 'json';
  return typeof value === (control === 'number' ? 'number' : 'string') ? control : 'json';
}

const isTexts = (value: unknown) =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** A list of texts: its elements, and the text of the next ones. */
interface TextList {
  readonly all: readonly string[];
  readonly typing: string;
}

/** The text of a list has its elements as JSON, and on a second line what is typed. */
export function listOf(text: string): TextList {
  const [all = '', typing = ''] = text.split('\n');
  return { all: all === '' ? [] : JSON.parse(all), typing };
}

export function textOfList({ all, typing }: TextList): string {
  const elements = all.length > 0 ? JSON.stringify(all) : '';
  return typing === '' ? elements : `${elements}\n${typing}`;
}

/** The elements that are separated by commas in a text. */
export const elementsIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** True for a field that has a control of its own, or that the server sets. */
export const isNamed = (name: string, fields: readonly Field[]) =>
  made.has(name) || fields.some((field) => field.name === name);

/** The value of a field in a record: of the other custom fields, all that no field has. */
export function valueIn(item: Item | undefined, field: Field, fields: readonly Field[]): unknown {
  if (item === undefined || field.name !== '') return item?.[field.name];
  const more = Object.entries(item).filter(([name]) => !isNamed(name, fields));
  return more.length > 0 ? Object.fromEntries(more) : undefined;
}

/** A value as the text of its control. */
export function textOf(control: Field['control'], value: unknown): string {
  if (control === 'publication') return String(value ?? 'draft');
  if (control === 'list') return textOfList({ all: (value ?? []) as string[], typing: '' });
  const isJson = control === 'json' || control === 'choice';
  if (value === undefined || (value === null && !isJson)) return '';
  return isJson ? JSON.stringify(value, null, 2) : String(value);
}

/** The value of a control's text. @throws a sentence for the person */
export function parse(field: Field, control: Field['control'], text: string): unknown {
  if (control === 'publication') {
    if (text === '') throw new Error('Enter a whole date and time, the year with four digits.');
    return text === 'draft' ? null : text === 'now' ? new Date().toISOString() : text;
  }
  if (text.trim() === '') return field.empty;
  if (control === 'list') {
    const { all, typing } = listOf(text);
    return [...all, ...elementsIn(typing)];
  }
  const number = control === 'number' ? Number(text) : 0;
  // Number() also reads 0x10 and 0b1, which nobody means in a form.
  if (!Number.isFinite(number) || (control === 'number' && /[xob]/i.test(text))) {
    throw new Error('This is not a number.');
  }
  if (control === 'number') return number;
  if (control !== 'json' && control !== 'choice') return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}.`);
  }
  if (field.name === '' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw new Error('This must be a JSON object, with the names of fields as its keys.');
  }
  return value;
}

/** An instant in the local time zone, to the minute, as a field for a time writes it; empty if it cannot. */
export function localOf(instant: string): string {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return '';
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return /^\d{4}-/.test(local) ? local.slice(0, 16) : '';
}

/** The instant of a local time; empty while a part is missing. A year of fewer digits is not finished. */
export function instantOf(local: string): string {
  const at = new Date(local);
  return /^[1-9]\d{3}-/.test(local) && !Number.isNaN(at.getTime()) ? at.toISOString() : '';
}

const visible = /(?!\p{Default_Ignorable_Code_Point}|\u2800)[\p{L}\p{N}\p{P}\p{S}]/u;

/** The name of a record, or its id where the name shows nothing. */
export const titleOf = (item: Item, name: string): string =>
  visible.test(String(item[name] ?? '')) ? String(item[name]) : item.id;
