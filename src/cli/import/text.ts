import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { Failure } from '../failure.ts';

/** The longest JSON document, and the longest line of JSON Lines, that are read into memory; in characters. */
const longestJson = 256 * 1024 * 1024;
const longestLine = 16 * 1024 * 1024;

/** How many characters are read to detect the format and the delimiter. */
const headLength = 64 * 1024;

export interface Text {
  /** The path, or `standard input`. */
  readonly name: string;
  /** 0 for standard input. */
  readonly bytes: number;
  /** The beginning of the text. */
  readonly head: string;
  /** The whole text, without a byte order mark. Can be read once. */
  readonly pieces: AsyncIterable<string>;
}

export interface FileRow {
  /** For people: `posts[17]`, counted from 0, or `line 18`, counted from 1. */
  readonly place: string;
  /** The approximate size in the file. */
  readonly bytes: number;
  /** A JSON value, or the cells of a CSV row by heading. The raw text if there is a problem. */
  readonly content: unknown;
  /** A sentence that says why the row cannot be read. */
  readonly problem?: string | undefined;
}

/** Opens a file, or standard input for `-`. @throws Failure if it is not UTF-8 */
export async function openText(path: string, signal: AbortSignal): Promise<Text> {
  const name = path === '-' ? 'standard input' : path;
  const found = path === '-' ? undefined : statSync(path);
  if (found?.isDirectory()) throw new Failure(`${path} is a folder.`);
  const stream = found ? createReadStream(path, { highWaterMark: 1024 * 1024 }) : process.stdin;
  const pieces = decoded(name, addAbortSignal(signal, stream));
  let head = '';
  while (head.length < headLength) {
    const { value, done } = await pieces.next();
    if (done) break;
    head += value;
  }
  const all = async function* () {
    yield head;
    yield* pieces;
  };
  return { name, bytes: found?.size ?? 0, head, pieces: all() };
}

async function* decoded(name: string, stream: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const piece of stream) yield decoder.decode(piece, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new Failure(
      `${name} is not UTF-8. Save it as "CSV UTF-8" if it is a spreadsheet; otherwise convert it: ` +
        'iconv -f WINDOWS-1252 -t UTF-8 (or -f UTF-16).',
    );
  }
}

/** @returns the value, or the end of a sentence about the problem */
export function parseJson(text: string): { readonly value?: unknown; readonly problem?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `is not valid JSON: ${(error as SyntaxError).message}.` };
  }
}

/** Reads a whole document. @throws Failure */
export async function readJson({ name, bytes, pieces }: Text): Promise<unknown> {
  let text = '';
  for await (const piece of pieces) {
    if (Math.max(bytes, text.length) > longestJson) {
      throw new Failure(`${name} is longer than 256 MiB: convert it to JSON Lines (.jsonl).`);
    }
    text += piece;
  }
  const { value, problem } = parseJson(text);
  if (problem === undefined) return value;
  throw new Failure(`${name} ${problem}`);
}

/** Reads a JSON value from each line. Empty lines are left out. */
export async function* readJsonLines({ name, pieces }: Text): AsyncGenerator<FileRow> {
  let [number, rest] = [0, ''];
  for await (const piece of withLineFeed(pieces)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestLine) {
      const line = number + lines.length + 1;
      throw new Failure(`${name}: line ${line} is longer than 16 MiB, which no record can be.`);
    }
    for (const line of lines) {
      const row = { place: `line ${++number}`, bytes: line.length };
      if (line.trim() === '') continue;
      const { value, problem } = parseJson(line);
      if (problem === undefined) yield { ...row, content: value };
      else yield { ...row, content: line, problem: `The line ${problem}` };
    }
  }
}

/** The last line of a file may have none. */
async function* withLineFeed(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield* text;
  yield '\n';
}
