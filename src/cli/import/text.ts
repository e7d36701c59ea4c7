import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { Failure } from '../failure.ts';

/** A record has at most 1 MiB of JSON, in which each character may be written as six (`\u0061`). */
export const longestRecord = 16 * 1024 * 1024;

/** How much text is looked at to tell a format and a delimiter. */
const headLength = 64 * 1024;

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

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws Failure where it is not UTF-8
 */
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
