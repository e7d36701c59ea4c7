import { description, type Item, type Kind } from './session.ts';

/** A field of a form, as the description of the API has it. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: 'line' | 'long' | 'number' | 'choice' | 'json' | 'author' | 'publication';
  readonly hint: string;
  readonly isRequired: boolean;
  /** What the field is when its text is empty; undefined leaves it out. */
  readonly empty: unknown;
  readonly choices: readonly unknown[];
}

/** What the description says of users, or of posts. */
export interface Form {
  readonly fields: readonly Field[];
  /** Custom fields that lists can be filtered by. */
  readonly filters: readonly { readonly name: string; readonly choices: readonly string[] }[];
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The fields that the server makes. */
const made = new Set(['id', 'createdAt', 'updatedAt']);
const known: Readonly<Record<string, Partial<Field>>> = {
  name: { empty: '' },
  email: { empty: null, label: 'Email address' },
  title: { empty: '' },
  body: { empty: '', kind: 'long' },
  authorId: { empty: null, kind: 'author', label: 'Author' },
  publishedAt: { kind: 'publication', label: 'Publication' },
};
/** Custom fields that the schema does not name, as one object. */
const others: Field = {
  ...{ name: '', label: 'Other custom fields', kind: 'json', isRequired: false, choices: [] },
  ...{ empty: undefined, hint: 'A JSON object: {"colour": "blue"}.' },
};
/** Parameters of lists that are no filter on a custom field. */
const general = new Set(['limit', 'cursor', 'sort', 'count', 'fields', 'include', 'id']);

export let forms: Readonly<Record<Kind, Form>>;

export async function readForms(): Promise<void> {
  const document = await (await fetch(description)).json();
  const resolve = (schema: Schema): Schema => {
    if (schema.$ref === undefined) return schema;
    const keys = schema.$ref.split('/').slice(1).map(decodeURIComponent);
    return resolve(keys.map(unescaped).reduce((at, key) => at?.[key] ?? {}, document));
  };
  const formOf = (kind: Kind, one: string): Form => {
    const { properties = {}, required = [] } = resolve(document.components.schemas[`${one}Input`]);
    const fields = Object.entries(properties)
      .filter(([name]) => !made.has(name))
      .map(([name, schema]) => fieldOf(name, resolve(schema), required.includes(name)));
    const parameters: { name?: string; in?: string }[] = document.paths[`/${kind}`].get.parameters;
    const filters = parameters
      .flatMap(({ name = '', in: place }) => (place === 'query' ? [name] : []))
      .filter((name) => !known[name] && !general.has(name) && !name.includes('['))
      .map((name) => ({ name, choices: fields.find((one) => one.name === name)?.choices ?? [] }))
      .map(({ name, choices }) => ({ name, choices: choices.map(String) }));
    return { fields: [...fields, others], filters };
  };
  forms = { users: formOf('users', 'User'), posts: formOf('posts', 'Post') };
}

/** A key of a JSON Pointer (RFC 6901). */
export function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function fieldOf(name: string, schema: Schema, isRequired: boolean): Field {
  const type = [schema.type ?? []].flat().find((one) => one !== 'null');
  const choices = schema.enum ?? (type === 'boolean' ? [true, false] : []);
  const text = (schema.maxLength ?? 0) > 300 ? 'long' : 'line';
  const kinds: Readonly<Record<string, Field['kind']>> = {
    ...{ string: text, number: 'number', integer: 'number' },
  };
  const kind = choices.length > 0 ? 'choice' : (kinds[type ?? ''] ?? 'json');
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
  const label = schema.title ?? words.charAt(0).toUpperCase() + words.slice(1);
  const hint = known[name] ? '' : (schema.description ?? '');
  return { ...{ name, label, kind, hint, isRequired, choices, empty: undefined }, ...known[name] };
}

/** A stored value of another type than the schema has now is shown, and changed, as JSON. */
export function kindOf({ kind }: Field, value: unknown): Field['kind'] {
  const type = kind === 'number' ? 'number' : 'string';
  const isAny = value === undefined || value === null || kind === 'choice';
  return isAny || typeof value === type ? kind : 'json';
}

/** The value of a field in a record: of the other custom fields, all that no field has. */
export function valueIn(item: Item | undefined, field: Field, fields: readonly Field[]): unknown {
  if (item === undefined || field.name !== '') return item?.[field.name];
  const names = new Set([...made, ...fields.map(({ name }) => name)]);
  const more = Object.entries(item).filter(([name]) => !names.has(name));
  return more.length > 0 ? Object.fromEntries(more) : undefined;
}

/** A value as the text of its control. */
export function textOf(kind: Field['kind'], value: unknown): string {
  if (kind === 'publication') return value === null ? 'draft' : String(value ?? 'now');
  if (value === undefined || (value === null && kind !== 'json' && kind !== 'choice')) return '';
  return kind === 'json' || kind === 'choice' ? JSON.stringify(value, null, 2) : String(value);
}

/** The value of a control's text. @throws a sentence for the person */
export function parse({ empty, name }: Field, kind: Field['kind'], text: string): unknown {
  if (kind === 'publication') {
    return text === 'draft' ? null : text === 'now' ? new Date().toISOString() : text;
  }
  if (text.trim() === '') return empty;
  if (kind === 'number' && Number.isNaN(Number(text))) throw new Error('This is not a number.');
  if (kind === 'number') return Number(text);
  if (kind !== 'json' && kind !== 'choice') return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}.`);
  }
  if (name === '' && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw new Error('This must be a JSON object, with the names of fields as its keys.');
  }
  return value;
}
