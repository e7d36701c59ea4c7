/** Characters that could move a terminal's cursor, begin a line or reorder what surrounds them. */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Replaces control characters by their code points: an ESC becomes `\u{1b}`. */
export function masked(text: string): string {
  return text.replace(unsafe, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** A text of a file within a sentence: as JSON writes it, cut after 60 characters. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** Prints lines. They may name files, and hold what is in them: so each is masked. */
export function print(...lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${masked(line)}\n`).join(''));
}
