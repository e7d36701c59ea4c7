import { open, readFile } from 'node:fs/promises';
import { findDuplicateKey } from '../../domain/duplicate-keys.ts';
import { isPlainObject } from '../../domain/json.ts';
import { Failure } from '../failure.ts';
import { readCsv } from './csv.ts';
import type { Given, Reading } from './given.ts';
import { decode, readLines } from './read-lines.ts';

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
  /** Top-level members that are no list of Rostrum's. */
  readonly others: readonly string[];
}

/** The longest JSON that is held in memory as a whole; JSON Lines have no limit. */
const longestJson = 256 * 1024 * 1024;

/**
 * Opens a file by its name: `.csv` is CSV, `.jsonl` and `.ndjson` are JSON Lines, and any other is
 * JSON.
 *
 * @param as which list the records of an array, of JSON Lines and of CSV are
 * @throws Failure for a file that cannot be told without `as`, that has no use for it, or that is
 * not JSON
 */
export async function openDataFile(path: string, as?: List): Promise<DataFile> {
  await using handle = await open(path);
  const found = await handle.stat();
  if (!found.isFile()) throw new Failure(`${path} is not a file.`);
  const file = { path, bytes: found.size, others: [] };
  const [, ending = ''] = /\.(csv|jsonl|ndjson)$/i.exec(path) ?? [];
  if (ending === '') return await openJson(path, found.size, as);
  if (as !== undefined) {
    const read = ending.toLowerCase() === 'csv' ? readCsv : readJsonLines;
    return { ...file, lists: [as], read: (_list, reading) => read(path, reading) };
  }
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
  // That of an empty store is empty.
  const isExport = /^\s*(?:$|\{\s*"(?:user|post|kind)"\s*:)/.test(
    buffer.toString('utf8', 0, bytesRead),
  );
  if (!isExport || ending.toLowerCase() === 'csv') throw asIsMissing(path);
  return {
    ...file,
    lists: ['users', 'posts'],
    read: (list, reading) => readExport(path, list, reading),
  };
}

async function openJson(path: string, bytes: number, as?: List): Promise<DataFile> {
  const content = await readJson(path, bytes);
  const isArray = Array.isArray(content);
  if (isArray && as === undefined) throw asIsMissing(path);
  if (!isArray && !isPlainObject(content)) {
    throw new Failure(`${path} is neither a JSON object nor an array.`);
  }
  if (!isArray && as !== undefined) {
    throw new Failure(
      `${path} is a JSON object, whose members say what they are: leave out --as. ` +
        'JSON Lines are read from a file that is named .jsonl.',
    );
  }
  const members: Readonly<Record<string, unknown>> = isArray ? {} : content;
  const listOf = (list: List): readonly unknown[] => {
    const elements = isArray ? content : (members[list] ?? []);
    if (Array.isArray(elements)) return elements;
    throw new Failure(`${path} has "${list}" that are no array.`);
  };
  const lists: readonly List[] = as === undefined ? ['users', 'posts'] : [as];
  const count = lists.reduce((sum, list) => sum + listOf(list).length, 0);
  return {
    ...{ path, bytes, lists },
    others: Object.keys(members).filter((name) => name !== 'users' && name !== 'posts'),
    async *read(list, { signal, onBytes }) {
      const elements = listOf(list);
      // A list is shown as the whole file, and a record as one of average length.
      const read = (index: number) => Math.floor((bytes * index) / elements.length);
      for (const [index, value] of elements.entries()) {
        signal.throwIfAborted();
        onBytes(read(index + 1) - read(index));
        yield { place: `${list}[${index}]`, bytes: bytes / count, value };
      }
    },
  };
}

async function readJson(path: string, bytes: number): Promise<unknown> {
  if (bytes > longestJson) {
    throw new Failure(
      `${path} has more than 256 MiB: write it as JSON Lines, a record a line, in a file named .jsonl.`,
    );
  }
  const { value, problem } = parsed(decode(await readFile(path)));
  if (problem !== undefined) throw new Failure(`${path} cannot be read. ${problem}`);
  return value;
}

async function* readJsonLines(path: string, reading: Reading): AsyncGenerator<Given> {
  for await (const { text, number, bytes } of readLines(path, reading)) {
    if (text?.trim() !== '') yield { place: `line ${number}`, bytes, ...parsed(text) };
  }
}

/** Reads what `rostrum export` writes: `{"user":{…}}` and `{"post":{…}}`, a line each. */
async function* readExport(path: string, list: List, reading: Reading): AsyncGenerator<Given> {
  for await (const line of readJsonLines(path, reading)) {
    const [found, value] = exported(line.value);
    if (found === list) yield { ...line, value };
    // What is neither is refused once, among the users.
    else if (found === undefined && list === 'users') {
      yield { problem: 'It is neither {"user":{…}} nor {"post":{…}}.', ...line, value: undefined };
    }
  }
}

/** The list and the record of a line of an export; earlier versions wrote `kind` and `record`. */
function exported(value: unknown): [list?: List | 'end', record?: unknown] {
  if (!isPlainObject(value)) return [];
  const { kind, record } = value;
  if (kind === 'end') return ['end'];
  if (kind === 'user' || kind === 'post') return [`${kind}s`, record];
  const [name, ...others] = Object.keys(value);
  const isKnown = (name === 'user' || name === 'post') && others.length === 0;
  return isKnown ? [`${name}s`, value[name]] : [];
}

/** @param text undefined when the bytes are not UTF-8 */
function parsed(text: string | undefined): Pick<Given, 'value' | 'problem'> {
  if (text === undefined) return { problem: 'It is not UTF-8.' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The message may have a piece of the text, with its line feeds.
    return { problem: `It is not JSON: ${(error as SyntaxError).message.replace(/\s+/g, ' ')}.` };
  }
  const twice = findDuplicateKey(text);
  return twice === undefined ? { value } : { problem: `It has the key "${twice}" twice.` };
}

function asIsMissing(path: string): Failure {
  return new Failure(`${path} does not say what it holds: use --as users or --as posts.`);
}
