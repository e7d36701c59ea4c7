import { findDuplicateKey } from '../../domain/duplicate-keys.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';
import { type FileRow, longestRecord, type Text } from './text.ts';

/** The longest JSON that is held in memory as a whole; JSON Lines have no limit. */
const longestJson = 256 * 1024 * 1024;

export interface Parsed {
  readonly value?: unknown;
  /** The end of a sentence about text that is not JSON. */
  readonly problem?: string;
  /** The same about a key that an object has twice, of which `value` has the last. */
  readonly repeated?: string | undefined;
}

export function parseJson(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    const twice = findDuplicateKey(text);
    return {
      value,
      repeated: twice === undefined ? undefined : `has the key ${quoted(twice)} twice`,
    };
  } catch (error) {
    return { problem: `is not valid JSON: ${(error as SyntaxError).message}` };
  }
}

/** Reads a whole document. @throws Failure */
export async function readJson({ name, pieces }: Text): Promise<Parsed> {
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
    if (rest.length <= longestRecord) continue;
    throw new Failure(`${name}, line ${number + 1}: The line is longer than any record can be.`);
  }
}

/** The last line of a file may have none. */
async function* withLineFeed(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield* text;
  yield '\n';
}
