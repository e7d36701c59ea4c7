import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { findDuplicateKey } from '../../domain/duplicate-keys.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';

/** A record has at most 1 MiB of JSON, in which each character may be written as six (`\u0061`). */
const longestLine = 16 * 1024 * 1024;

/** The longest JSON that is held in memory as a whole; JSON Lines have no limit. */
const longestJson = 256 * 1024 * 1024;

/** How much text is looked at to tell a format and a delimiter. */
const headLength = 64 * 1024;

/** The text of a file. */
export interface Text {
  /** How people know the file. */
  readonly name: string;
  /** 0 for standard input. */
  readonly bytes: number;
  /** The beginning. */
  readonly head: string;
  /** All of it, once, without a byte order mark. */
  readonly pieces: AsyncIterable<string>;
}

/** What a file has where a record is expected. */
export interface FileRow {
  /** For people: `posts[17]`, counted from 0, or `line 18`, counted from 1. */
  readonly place: string;
  /** About as many bytes as it has in the file. */
  readonly bytes: number;
  /** A JSON value, or the cells of a row by their headings; the text where there is a problem. */
  readonly content: unknown;
  /** A sentence that says why the row cannot be read. */
  readonly problem?: string | undefined;
}

/** Opens a file, or standard input for `-`. @throws Failure where it is not UTF-8 */
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

/** Text as JSON. `problem` and `repeated`, a key that is given twice, are the ends of sentences. */
export interface ParsedJson {
  readonly value?: unknown;
  readonly problem?: string;
  readonly repeated?: string;
}

export function parseJson(text: string): ParsedJson {
  try {
    const value: unknown = JSON.parse(text);
    const key = findDuplicateKey(text);
    return key === undefined ? { value } : { value, repeated: `has the key ${quoted(key)} twice` };
  } catch (error) {
    return { problem: `is not valid JSON: ${(error as SyntaxError).message}` };
  }
}

/** Reads a whole document. @throws Failure */
export async function readJson({ name, pieces }: Text): Promise<ParsedJson> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length <= longestJson) continue;
    throw new Failure(`${name} is longer than 256 MiB: convert it to JSON Lines (.jsonl).`);
  }
  const parsed = parseJson(text);
  if (parsed.problem === undefined) return parsed;
  throw new Failure(`${name} ${parsed.problem}.`);
}

/** Reads JSON Lines. @throws Failure for a line that cannot be held in memory */
export async function* readJsonLines({ name, pieces }: Text): AsyncGenerator<FileRow> {
  let [number, rest] = [0, ''];
  for await (const piece of withLineFeed(pieces)) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const row = { place: `line ${++number}`, bytes: line.length };
      if (line.trim() === '') continue;
      const { value, problem, repeated = problem } = parseJson(line);
      if (repeated === undefined) yield { ...row, content: value };
      else yield { ...row, content: line, problem: `The line ${repeated}.` };
    }
    if (rest.length <= longestLine) continue;
    throw new Failure(`${name}, line ${number + 1}: The line is longer than any record can be.`);
  }
}

/** The last line of a file may have none. */
async function* withLineFeed(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield* text;
  yield '\n';
}
