import { open } from 'node:fs/promises';
import { findDuplicateKey } from '../../domain/duplicate-keys.ts';
import { Failure } from '../failure.ts';
import { readLines } from '../transfer/read-lines.ts';
import { readCsv } from './csv.ts';
import type { Given, Reading } from './given.ts';
import { readJson } from './json.ts';

/** The two lists of a store, in the order in which they are added. */
export type List = 'users' | 'posts';

/** A file with records of people's own. */
export interface DataFile {
  readonly path: string;
  readonly bytes: number;
  /** Which of the lists it may have. */
  readonly lists: readonly List[];
  /** Reads one list, from its first record to its last, as often as is needed. */
  read(list: List, reading: Reading): AsyncIterable<Given>;
  /** Top-level members that are no list of Rostrum's; known when the file was read once. */
  readonly others: ReadonlySet<string>;
}

/**
 * Opens a file by its name: `.csv` is CSV, `.jsonl` and `.ndjson` are JSON Lines, and any other is
 * JSON.
 *
 * @param as which list the records of an array, of JSON Lines and of CSV are
 * @throws Failure for a file that cannot be told without `as`, or that has no use for it
 */
export async function openDataFile(path: string, as?: List): Promise<DataFile> {
  await using handle = await open(path);
  const found = await handle.stat();
  if (!found.isFile()) throw new Failure(`${path} is not a file.`);
  const file = { path, bytes: found.size, others: new Set<string>() };
  const beginning = await beginningOf(handle);
  if (/^\{"kind":"(?:user|post|end)","(?:version|format)":/.test(beginning)) {
    throw new Failure(`${path} is an export: load it by rostrum restore.`);
  }
  const [, ending = ''] = /\.(csv|jsonl|ndjson)$/i.exec(path) ?? [];
  if (ending !== '') {
    if (as === undefined) throw asIsMissing(path);
    const read = ending.toLowerCase() === 'csv' ? readCsv : readJsonLines;
    return { ...file, lists: [as], read: (_list, reading) => read(path, reading) };
  }
  const isArray = beginning.startsWith('[');
  if (isArray && as === undefined) throw asIsMissing(path);
  if (beginning.startsWith('{') && as !== undefined) {
    throw new Failure(
      `${path} is a JSON object, whose members say what they are: leave out --as. ` +
        'JSON Lines are read from a file that is named .jsonl.',
    );
  }
  return {
    ...file,
    lists: as === undefined ? ['users', 'posts'] : [as],
    async *read(list, reading) {
      const elements = readJson(path, isArray ? '' : list, reading, file.others);
      for await (const { index, text, bytes } of elements) {
        yield { place: `${list}[${index}]`, bytes, ...parsed(text) };
      }
    },
  };
}

async function* readJsonLines(path: string, { signal, onBytes }: Reading): AsyncGenerator<Given> {
  for await (const { text, number, bytes } of readLines(path)) {
    signal.throwIfAborted();
    onBytes(bytes);
    if (text?.trim() !== '') yield { place: `line ${number}`, bytes, ...parsed(text) };
  }
}

/** @param text undefined when the bytes are not UTF-8 */
function parsed(text: string | undefined): Pick<Given, 'value' | 'problem'> {
  if (text === undefined) return { problem: 'It is not UTF-8.' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The position is one in this text, and a person looks for it in the file.
    const reason = String(error)
      .replace(/^SyntaxError: /, '')
      .replace(/ in JSON at position (\d+).*$/s, ', at character $1 of this record, from 0');
    return { problem: `It is not JSON: ${reason}.` };
  }
  const twice = findDuplicateKey(text);
  return twice === undefined ? { value } : { problem: `It has the key "${twice}" twice.` };
}

/** How a file begins, without white space and a byte order mark. */
async function beginningOf(handle: Awaited<ReturnType<typeof open>>): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
  return buffer.toString('utf8', 0, bytesRead).trimStart();
}

function asIsMissing(path: string): Failure {
  return new Failure(`${path} does not say what it holds: use --as users or --as posts.`);
}
