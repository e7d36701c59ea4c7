import type { DeclaredType } from '../domain/fields/declared-fields.ts';
import { addMs, type Instant } from '../domain/records/instant.ts';
import type { Post } from '../domain/records/post.ts';
import type { Receipt } from '../domain/records/receipt.ts';
import type { User } from '../domain/records/user.ts';

/** In the future, so that no store drops the receipts of a test by its own clock. */
const epoch: Instant = '2100-01-01T00:00:00.000Z';

/** Returns the instant `ms` milliseconds after the beginning of the fixtures' time. */
export function at(ms: number): Instant {
  return addMs(epoch, ms);
}

/** An instant after those of all fixtures. */
export const later = at(1_000_000);

let count = 0;

/** Makes a user with its own id, name and address, except for the given fields. */
export function user(fields: object = {}): User {
  const n = ++count;
  return {
    id: `user-${n}`,
    createdAt: at(n),
    updatedAt: at(n),
    name: `Name ${n}`,
    email: `user.${n}@example.com`,
    ...fields,
  };
}

/** Makes a post with its own id and title and without an author, except for the given fields. */
export function post(fields: object = {}): Post {
  const n = ++count;
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

/** Makes a receipt with its own key and fingerprint, except for the given parts. */
export function newReceipt(parts: Partial<Receipt> = {}): Receipt {
  const n = ++count;
  return { key: digest(n), fingerprint: digest(-n), from: at(0), until: at(60_000), ...parts };
}

/** Returns 64 hexadecimal digits, as the digest of a key has them. */
export function digest(n: number): string {
  return (n < 0 ? 'f' : '0') + Math.abs(n).toString(16).padStart(63, '0');
}

/** Returns two texts that differ only in their last character. */
export const longTexts = (length: number, character = 'x') =>
  ['a', 'b'].map((end) => character.repeat(length - 1) + end);

/** A character of four bytes whose search key has twelve. No character's key is longer. */
export const expandingCharacter = '\u{1d160}';

const [long = '', longer = ''] = longTexts(1001);

/** Texts that a collation, pattern, query or driver could confuse. */
export const similarTexts: readonly string[] = [
  ...['Ada', 'ada', 'ADA', 'Ada ', 'Ada L', 'Ad', 'Adá', 'Ada\u0301', 'ada\u0300', 'a%', 'a_'],
  ...['.*', '$ne', '%', '😀', '😀 Ada', 'Ada\ufffd', 'Ada', 'b', 'ß', 'SS', 'ss', 'ſ', 'Σ', 'ς'],
  ...['a\\', "a'", "a''", 'a*', 'a?', 'ax', 'a[x]', 'a\u{10ffff}', 'a\uffff', 'οδος', 'οδοσα'],
  ...['ﬁ', 'fi', '①'],
  ...longTexts(200),
  ...longTexts(200, expandingCharacter),
];

/** Texts of no record. */
export const unknownTexts = [
  ...['A%', 'Ada\u0001', 'x'.repeat(199), 'null', '', 'e', 'a\\\\', '\u{10ffff}'],
];

/** 1,000 characters of four bytes that hardly compress: some indexes limit the bytes of a value. */
const denseText = String.fromCodePoint(
  ...times(1000, (n) => 0x20000 + ((n * n * 40_503) % 0xa000)),
);

/** Values of each type of declared field that a database, a driver or an index could confuse. */
export const declaredValues = {
  text: [
    ...similarTexts,
    ...['', ' ', '  ', '0', 'true', '"', "'", '\\', '["Ada"]', 'Ad,a', '～', denseText],
    ...longTexts(1000),
    ...longTexts(1000, '😀'),
  ],
  number: [
    ...[0, -1, 5, 9, 10, 0.1, 0.2, 0.3, 0.1 + 0.2, 5e-324, 1e-323, 2.2250738585072014e-308, 1e-7],
    ...[1.2583863696070281e-262, 3.49716920597803e-105, 1 / 3, 0.33333333333333326, 1.5, 2 ** 31],
    ...[2 ** 53 - 1, 2 ** 53 - 2, 1 - 2 ** 53, 123456789.12345679, 123456789.12345678],
    ...[1234567890123456, 1234567890123457, 0.1234567890123456, 0.1234567890123457],
    ...[-0.5, Number.MAX_VALUE, 1.0000000001e300, 1e300, -1e300, -5e-324],
  ],
  boolean: [true, false],
  'text[]': [
    ...[[], ['a'], ['b', 'a'], ['a', 'a', 'c,b'], ['A'], [''], ['', ' '], ['"'], ["'", '\\', 'a']],
    ...[['a,b'], ['a","b'], ['["a"]'], ['é'], ['e\u0301'], ['%', 'null'], ['b', 'c', 'a', 'b']],
    ...[longTexts(200), longTexts(200, '😀'), times(64, (n) => `${n}`)],
  ],
} as const satisfies Record<DeclaredType, readonly unknown[]>;

/** Ends of ranges of numbers that no record has. */
export const rangeEnds = [-0, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

/** Ids that a collation, a pattern, a normal form or a column could confuse. */
export const similarIds: readonly string[] = [
  ...['A', 'a', 'AA', 'Aa', 'a ', 'é', 'e\u0301', '1', '01', '\u0001', '%', '$a.b', 'constructor'],
  ...[long, longer],
];

/** Ids of records that exist while {@link unknownIds} are looked up. */
export const knownIds: readonly string[] = ['Known', long];

/** Ids of no record. */
export const unknownIds: readonly string[] = [
  ...['none', '', ' ', '__proto__', 'known', 'KNOWN', 'Know', 'Known ', 'Knów', 'null', '\ufffd'],
  ...['%', '.*', '$ne', '{"$gt":""}', "' OR 1=1 --", '😀', longer, long.slice(0, -1)],
  'x'.repeat(10_000),
];

/** Texts whose order by code point differs from UTF-16's, a locale's or a collation's. */
export const variedTexts: readonly string[] = [
  ...['!', '10', '9', 'A', 'AA', 'Aa', 'B', 'Z', '_', 'a', 'a a', 'aA', 'aa', 'ab', 'b', 'e'],
  ...['e\u0301', 'f', 'z', '\u00a0x', 'ß', 'ss', 'à', 'é', 'Ā', 'Я', 'я', 'İ', 'ς', 'Σ', '漢'],
  ...['\ud7ff', '\ue000', 'ｚ', 'Ｚ', '～', '\ufffd', '\uffff', '\uffffa', '𐀀', '\u{10400}'],
  ...['😀', '😀a', '\u{10ffff}', ...longTexts(200)],
];

/** Calls `make` with 0, 1, 2 and so on. */
export function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

/** Browsers have no `setImmediate`. Node delays any other timer by a millisecond. */
const soon: (go: () => void) => unknown = globalThis.setImmediate ?? setTimeout;

/** Waits for the next turn of the event loop. */
export function pause(): Promise<void> {
  return new Promise((resolve) => void soon(resolve));
}

/** Waits for some microtasks, and for some counts also for a timer. */
export async function ticks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await undefined;
  if (count % 5 === 4) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Reorders items, so that the order of insertion is not the expected order. */
export function shuffled<T>(items: readonly T[]): T[] {
  const step = [5, 7, 11, 13].find((prime) => items.length % prime > 0) ?? 1;
  return items.map((_, n) => items[(n * step + 3) % items.length] as T);
}
