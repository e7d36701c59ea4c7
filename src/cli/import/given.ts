import { createReadStream } from 'node:fs';
import { Failure } from '../failure.ts';

/** What a file has where a record is expected. */
export interface Given {
  /** For people: `posts[17]`, counted from 0, or `line 18`, counted from 1. */
  readonly place: string;
  /** About as many bytes as it has in the file. */
  readonly bytes: number;
  /** Any JSON value; undefined when it cannot be read. */
  readonly value?: unknown;
  /** A sentence that says why it cannot be read. */
  readonly problem?: string | undefined;
  /** What cannot be read: a line, or the cells of a row. */
  readonly raw?: string | readonly string[] | undefined;
}

/** What is told while a file is read. */
export interface Reading {
  readonly signal: AbortSignal;
  onBytes(bytes: number): void;
}

/** A record has at most 1 MiB of JSON, and each character may be written as six (`\u0061`). */
export const longestRecord = 16 * 1024 * 1024;

/**
 * The text of a file, in pieces, without a byte order mark.
 *
 * @throws Failure where the file is not UTF-8
 */
export async function* textOf(path: string, { signal, onBytes }: Reading): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (piece?: Buffer) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new Failure(`${path} is not UTF-8: save it as UTF-8.`);
    }
  };
  const pieces: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: 1024 * 1024 });
  for await (const piece of pieces) {
    signal.throwIfAborted();
    onBytes(piece.length);
    yield decode(piece);
  }
  yield decode();
}
