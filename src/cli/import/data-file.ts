import { open } from 'node:fs/promises';
import { findDuplicateKey } from '../../domain/duplicate-keys.ts';
import { isPlainObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { Failure } from '../failure.ts';
import { readCsv } from './csv.ts';
import { type Given, longestRecord, type Reading, textOf } from './given.ts';

/** A file with records of people's own. */
export interface DataFile {
  readonly path: string;
  readonly bytes: number;
  /** Which of the lists it may have, in the order in which they are added. */
  readonly lists: readonly Collection[];
  /** Reads one list, from its first record to its last, as often as is needed. */
  read(list: Collection, reading: Reading): AsyncIterable<Given>;
  /** What the columns of CSV are called, once it is read. */
  columns?: readonly string[];
  /** Top-level members that are no list of Rostrum's. */
  readonly others: readonly string[];
}

/** The longest JSON that is held in memory as a whole; JSON Lines have no limit. */
const longestJson = 256 * 1024 * 1024;

/** How many bytes of a file are looked at to tell what it is. */
const headBytes = 64 * 1024;

const both = ['users', 'posts'] as const;

/**
 * Opens a file by its name: `.csv` is CSV, `.jsonl` and `.ndjson` are JSON Lines, and any other is
 * JSON.
 *
 * @param as which list the records of an array, of JSON Lines and of CSV are
 * @throws Failure for a file that cannot be told without `as`, that has no use for it, or that is
 * not JSON
 */
export async function openDataFile(path: string, as?: Collection): Promise<DataFile> {
  await using handle = await open(path);
  const found = await handle.stat();
  if (!found.isFile()) throw new Failure(`${path} is not a file.`);
  const [, ending = ''] = /\.(csv|jsonl|ndjson)$/i.exec(path) ?? [];
  if (ending === '') return await openJson(path, found.size, as);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const head = buffer.toString('utf8', 0, bytesRead);
  const file = { path, bytes: found.size, others: [] };
  const isCsv = ending.toLowerCase() === 'csv';
  if (as !== undefined) {
    const made: DataFile = {
      ...{ ...file, lists: [as] },
      read: (_list, reading) =>
        isCsv ? readCsv(path, head, reading, onColumns) : readJsonLines(path, reading),
    };
    const onColumns = (names: readonly string[]) => {
      made.columns = names;
    };
    return made;
  }
  // The export of an empty store is empty.
  const isExport = !isCsv && /^\s*(?:$|\{\s*"(?:user|post)"\s*:)/.test(head);
  if (!isExport) throw asIsMissing(path);
  return { ...file, lists: both, read: (list, reading) => readExport(path, list, reading) };
}

async function openJson(path: string, bytes: number, as?: Collection): Promise<DataFile> {
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
  const members: Readonly<Record<string, unknown>> = isArray
    ? { [as as string]: content }
    : content;
  const listOf = (list: Collection): readonly unknown[] => {
    const elements = members[list] ?? [];
    if (Array.isArray(elements)) return elements;
    throw new Failure(`${path} has "${list}" that are no array.`);
  };
  const count = both.reduce((sum, list) => sum + listOf(list).length, 0);
  return {
    ...{ path, bytes, lists: as === undefined ? both : [as] },
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
  let text = '';
  const { signal } = new AbortController();
  for await (const piece of textOf(path, { signal, onBytes() {} })) text += piece;
  const { value, problem } = parsed(text);
  if (problem !== undefined) throw new Failure(`${path} ${problem}`);
  return value;
}

async function* readJsonLines(path: string, reading: Reading): AsyncGenerator<Given> {
  let [number, rest] = [0, ''];
  for await (const piece of withLineFeed(textOf(path, reading))) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      number += 1;
      if (line.trim() === '') continue;
      const { value, problem } = parsed(line);
      const place = `line ${number}`;
      yield {
        ...{ place, bytes: line.length, value },
        ...(problem !== undefined && { problem: `It ${problem}`, raw: line }),
      };
    }
    if (rest.length > longestRecord) {
      throw new Failure(`${path}, line ${number + 1}: is longer than any record can be.`);
    }
  }
}

/** The last line of a file may have none. */
async function* withLineFeed(text: AsyncIterable<string>): AsyncGenerator<string> {
  yield* text;
  yield '\n';
}

/** Reads what `rostrum export` writes: `{"user":{…}}` and `{"post":{…}}`, a line each. */
async function* readExport(
  path: string,
  list: Collection,
  reading: Reading,
): AsyncGenerator<Given> {
  for await (const line of readJsonLines(path, reading)) {
    const [member, ...others] = isPlainObject(line.value) ? Object.entries(line.value) : [];
    const [name, value] = member ?? [];
    const isKnown = (name === 'user' || name === 'post') && others.length === 0;
    if (isKnown && `${name}s` === list) yield { ...line, value };
    // What is neither is refused once, among the users.
    if (!isKnown && list === 'users') {
      const { problem = 'It is neither {"user":{…}} nor {"post":{…}}.' } = line;
      yield { ...line, value: undefined, problem, raw: line.raw ?? JSON.stringify(line.value) };
    }
  }
}

/** JSON, or what is wrong with it: the end of a sentence. */
function parsed(text: string): { readonly value?: unknown; readonly problem?: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The message may have a piece of the text, with its line feeds.
    const reason = (error as SyntaxError).message.replace(/\s+/g, ' ');
    return { problem: `is not valid JSON: ${reason}.` };
  }
  const twice = findDuplicateKey(text);
  return twice === undefined ? { value } : { problem: `has the key "${twice}" twice.` };
}

function asIsMissing(path: string): Failure {
  return new Failure(`${path} does not say what it holds: use --as users or --as posts.`);
}
