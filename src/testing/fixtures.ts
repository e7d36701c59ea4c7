import { addMs, type Instant } from '../domain/instant.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Post } from '../domain/post.ts';
import type { Receipt } from '../domain/receipt.ts';
import type { User } from '../domain/user.ts';

/**
 * When the fixtures live. It lies ahead, so that a store that forgets receipts by its own clock as
 * well does not forget one that a test still needs.
 */
const epoch: Instant = '2100-01-01T00:00:00.000Z';

/** The moment `ms` milliseconds into the fixtures' time. */
export function at(ms: number): Instant {
  return addMs(epoch, ms);
}

/** A moment after those of all fixtures. */
export const later = at(1_000_000);

let made = 0;

/** A user like no other, but for the fields that are given. */
export function user(fields: object = {}): User {
  const n = ++made;
  return {
    id: `user-${n}`,
    createdAt: at(n),
    updatedAt: at(n),
    name: `Name ${n}`,
    email: `user.${n}@example.com`,
    ...fields,
  };
}

/** A post like no other and without an author, but for the fields that are given. */
export function post(fields: object = {}): Post {
  const n = ++made;
  return {
    id: `post-${n}`,
    createdAt: at(n),
    updatedAt: at(n),
    title: `Title ${n}`,
    body: `Body ${n}`,
    authorId: null,
    publishedAt: at(n),
    ...fields,
  };
}

/** A receipt like no other, but for what is given. */
export function receipt(parts: Partial<Receipt> = {}): Receipt {
  const n = ++made;
  return { key: `key-${n}`, fingerprint: `print-${n}`, from: at(0), until: at(60_000), ...parts };
}

/** Two texts that differ in the last of their characters alone. */
export const longTexts = (length: number, character = 'x') =>
  ['a', 'b'].map((end) => character.repeat(length - 1) + end);

/** A character of four bytes whose key (`textKey`) has twelve: no text has a longer key. */
export const swelling = '\u{1d160}';

const [long = '', longer = ''] = longTexts(1001);

/** Ids that a collation, a pattern, a normal form or a column takes for one another. */
export const alikeIds: readonly string[] = [
  ...['A', 'a', 'AA', 'Aa', 'a ', 'é', 'e\u0301', '1', '01', '\u0001', '%', '$a.b', 'constructor'],
  ...[long, longer],
];

/** Ids of records that are there while {@link strangeIds} are looked for. */
export const knownIds: readonly string[] = ['\ufffd', 'Known', long];

/** Ids that name nothing. As U+FFFD, half of a surrogate pair often comes out of a driver. */
export const strangeIds: readonly string[] = [
  ...['none', '', ' ', '\0', '\ud800', '__proto__', 'known', 'KNOWN', 'Know', 'Known ', 'Knów'],
  ...['null', 'Known\0', 'Known\ud800', '%', '.*', '$ne', '{"$gt":""}', "' OR 1=1 --", '😀'],
  ...[longer, long.slice(0, -1), 'x'.repeat(10_000)],
];

/** As many as asked for, each made by its number from 0 on. */
export function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

/** A browser has no `setImmediate`; Node waits a millisecond for any other timer. */
const soon: (go: () => void) => unknown = globalThis.setImmediate ?? setTimeout;

/** Lets all other calls go on. */
export function pause(): Promise<void> {
  return new Promise((resolve) => void soon(resolve));
}

/** Lets other calls go first: some steps of the microtask queue, and of the event loop now and then. */
export async function ticks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await undefined;
  if (count % 5 === 4) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Objects in objects, `levels` of them. */
export function nested(levels: number): JsonObject {
  return levels === 1 ? { leaf: true } : { in: nested(levels - 1) };
}

/** Out of order, so that the order of insertion is none of the orders that are asked for. */
export function shuffled<T>(items: readonly T[]): T[] {
  return items.map((_, n) => items[(n * 5 + 3) % items.length] as T);
}

/**
 * Texts in the order of the code points of their keys; UTF-16, a locale or a collation has another,
 * and so have the texts themselves.
 *
 * @param length how many characters the longest ones have
 */
export const byKey = (length: number): readonly string[] => [
  ...['!', '10', '9', '_', 'A', 'a a', 'aA', 'Ab', 'B', 'e', 'F', 'ß', 'Z', '\u00a0x', 'À'],
  ...['E\u0301', 'ā', 'ας'],
  ...['Я', '漢', '\ud7ff', '\ue000', 'Ｚ', '～', '\ufffd', '\uffff', '\uffffa'],
  ...['𐀀', '\u{10400}', ...longTexts(length, swelling), '😀', '😀A', '\u{10ffff}'],
];

/** Texts in the order of their code points; UTF-16, a locale or a collation has another. */
export const byCodePoint: readonly string[] = [
  ...['!', '10', '9', 'A', 'AA', 'Aa', 'B', 'Z', '_', 'a', 'a a', 'aA', 'aa', 'ab', 'b', 'e'],
  ...[
    'e\u0301',
    'f',
    ...longTexts(200),
    'z',
    '\u00a0x',
    'ß',
    'à',
    'é',
    'Ā',
    'я',
    '漢',
    '\ud7ff',
    '\ue000',
    'ｚ',
  ],
  ...['～', '\ufffd', '\uffff', '\uffffa', '𐀀', '😀', '😀a', '\u{10ffff}'],
];
