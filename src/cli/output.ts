import { inspect } from 'node:util';

/** Characters that move a terminal's cursor, start a new line or reorder the text around them. */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Replaces control characters with their code points: ESC becomes `\u{1b}`. */
export function masked(text: string): string {
  return text.replace(unsafe, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Quotes a value in a message: as JSON, cut after 60 characters. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(plain(value)) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Returns the value, or a description if JSON cannot express it, such as a circular structure. */
export function plain(value: unknown): unknown {
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return inspect(value);
  }
}

/** Prints lines, masked: they can contain names and contents of files. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${masked(line)}\n`).join(''));
}

/** `1 user`, `2,000 users` */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
}

/** `72,980` */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export interface Counts {
  readonly users: number;
  readonly posts: number;
}

export function countsText({ users, posts }: Counts): string {
  return `${counted(users, 'user')} and ${counted(posts, 'post')}`;
}
