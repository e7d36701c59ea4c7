import { foldCase } from './case-folding.ts';

/** Returns the length of a text in Unicode code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += Number(text.codePointAt(i)) > 0xffff ? 2 : 1) count += 1;
  return count;
}

const encoder = new TextEncoder();
/** Reused for every text: an array for each would make the garbage collector run more often. */
const scratch = new Uint8Array(16 * 1024);

/** Returns the length of a well-formed text in bytes of UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (let rest = text; rest !== ''; ) {
    const { read, written } = encoder.encodeInto(rest, scratch);
    bytes += written;
    rest = rest.slice(read);
  }
  return bytes;
}

/** True for text that I-JSON and every store can carry: no lone surrogate, no NUL. */
export function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const visible = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/u;

export function hasVisible(text: string): boolean {
  return visible.test(text);
}

/**
 * Orders well-formed texts by code point, as UTF-8 orders its bytes; negative when `a` comes first.
 *
 * JavaScript's own `<` goes by UTF-16 unit and puts `😀` (U+1F600) before `～` (U+FF5E).
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rankOf(x) - rankOf(y);
  }
  return a.length - b.length;
}

/** Ranks UTF-16 units by code point: surrogates, which encode those above U+FFFF, come last. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Returns the text in Unicode's normalization form C, as `name` and `title` filters compare it. */
export function normalizedText(text: string): string {
  return text.normalize('NFC');
}

const beyondAscii = /[\u0080-\uffff]/;

/**
 * Returns the search key of a name or title, which lists sort by and `startsWith` filters compare:
 * the text in NFC after full Unicode case folding. The key of a key is the key itself.
 *
 * Case folding makes Σ, σ and ς one letter, and ß the same as ss. It knows no locale.
 */
export function textKey(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase();
  return foldCase(text.normalize('NFC')).normalize('NFC');
}

/** The texts at or after `from` and before `before`, by code point; without `before`, to the last text. */
export interface TextSpan {
  readonly from: string;
  readonly before?: string | undefined;
}

/** Returns the span of the texts that start with this one, for a store that has an index on them. */
export function prefixSpan(prefix: string): TextSpan {
  let end = prefix.length;
  while (prefix.endsWith('\u{10ffff}', end)) end -= 2;
  const last = [...prefix.slice(Math.max(end - 2, 0), end)].at(-1);
  if (last === undefined) return { from: prefix };
  const point = last.codePointAt(0) as number;
  // The halves of surrogate pairs are not code points of a text.
  const next = String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  return { from: prefix, before: prefix.slice(0, end - last.length) + next };
}
