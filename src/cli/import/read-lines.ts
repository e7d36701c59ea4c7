import { Failure } from '../failure.ts';
import { bytesOf, longestRecord, type Reading } from './given.ts';

/** A line of a file. */
export interface Line {
  /** undefined when its bytes are not UTF-8. */
  readonly text: string | undefined;
  /** Counted from 1. */
  readonly number: number;
  /** With the line feed. */
  readonly bytes: number;
}

/** The lines of a file. */
export async function* readLines(path: string, reading: Reading): AsyncGenerator<Line> {
  let number = 0;
  let pieces: Buffer[] = [];
  const toLine = (end: 0 | 1): Line => {
    const line = Buffer.concat(pieces);
    pieces = [];
    number += 1;
    return { text: decode(line), number, bytes: line.length + end };
  };
  for await (const chunk of bytesOf(path, reading)) {
    let begin = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, begin)) {
      pieces.push(chunk.subarray(begin, end));
      yield toLine(1);
      begin = end + 1;
    }
    if (begin < chunk.length) pieces.push(chunk.subarray(begin));
    if (pieces.reduce((length, piece) => length + piece.length, 0) > longestRecord) {
      throw new Failure(`${path}, line ${number + 1}: is longer than any record can be.`);
    }
  }
  if (pieces.length > 0) yield toLine(0);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Text without a byte order mark; undefined when the bytes are not UTF-8. */
export function decode(bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
