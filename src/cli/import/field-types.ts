import type { Issues } from '../../domain/issues.ts';
import { setMember } from '../../domain/json.ts';
import { type FieldOptions, readFieldOptions } from './field-names.ts';
import { type ReadTime, wrongTime } from './times.ts';

/** What the texts of a field are read as. */
export const fieldTypes = ['number', 'boolean', 'time'] as const;
export type FieldType = (typeof fieldTypes)[number];

/** The types of fields, by the names that records have. */
export type Types = FieldOptions<FieldType>;

/** How texts are read. */
export interface Texts {
  readonly types: Types;
  readonly readTime: ReadTime;
  readonly timeZone?: string | undefined;
}

/**
 * Reads `views=number` for the fields of both lists, and `posts.views=number` for those of one.
 *
 * @throws Failure
 */
export function readTypes(given: readonly string[]) {
  const like = `is not like views=number or posts.views=number, with one of ${fieldTypes.join(', ')}.`;
  return readFieldOptions('--type', given, like, (to) => fieldTypes.find((type) => type === to));
}

/** `publishedAt` is a time, as the API has it, without an option that says so. */
export function withKnownTimes(types: ReturnType<typeof readTypes>): ReturnType<typeof readTypes> {
  const known = { to: 'time', text: '', isUsed: true } as const;
  return { ...types, posts: new Map([['publishedAt', known], ...types.posts]) };
}

/** Replaces the texts of a record by what they stand for; other values stay. */
export function readTexts(input: Record<string, unknown>, texts: Texts, issues: Issues): void {
  for (const [name, option] of texts.types) {
    if (!Object.hasOwn(input, name)) continue;
    option.isUsed = true;
    const given = input[name];
    if (typeof given !== 'string') continue;
    const value = meantBy(given.trim(), option.to, texts.readTime);
    if (value !== undefined) setMember(input, name, value);
    else issues.add([name], codeOf(option.to), wrong(name, option.to, texts.timeZone));
  }
}

/** A time is a text in JSON too, and is wrong in what it says. */
const codeOf = (type: FieldType) => (type === 'time' ? 'invalid' : 'type');

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

function meantBy(text: string, type: FieldType, readTime: ReadTime): unknown {
  if (type === 'time') return readTime(text);
  if (type === 'boolean') return booleans.get(text);
  // As JSON has numbers: 010 and 1,000 may mean one thing or another.
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text);
  return isNumber ? Number(text) : undefined;
}

function wrong(name: string, type: FieldType, timeZone: string | undefined): string {
  if (type === 'time') return wrongTime(timeZone);
  const what = type === 'number' ? 'a number, such as 1000.5' : 'true, false, 1 or 0';
  return `The field "${name}" must be ${what}.`;
}
