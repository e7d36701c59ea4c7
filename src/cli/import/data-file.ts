import { isPlainObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { Failure } from '../failure.ts';
import { readCsv } from './csv.ts';
import { type FileRow, parseJson, readJson, readJsonLines, type Text } from './text.ts';
import type { TransformModule } from './transform.ts';

/** A row, with the list that it belongs to. */
export type ListRow = FileRow & { readonly list: Collection };

/** The rows of a file. */
export interface DataFile {
  /** How people know the file. */
  readonly name: string;
  readonly bytes: number;
  readonly isCsv?: boolean;
  /** What the summary says about the rest of the file. */
  readonly notes?: readonly string[];
  readonly rows: AsyncIterable<ListRow>;
}

const both = ['users', 'posts'] as const;

/** A line that `rostrum export` writes. */
const exportLine = /^\s*\{\s*"(?:user|post)"\s*:/;

/**
 * Tells what a file holds: `.csv` and `.tsv` are CSV, `.jsonl` and `.ndjson` are JSON Lines, and other
 * files are known by their content.
 *
 * @param as the list that an array, JSON Lines or CSV holds; otherwise those that are transformed
 * @throws Failure for a file that does not say what it holds, or that is not JSON
 */
export async function openDataFile(
  text: Text,
  as?: Collection,
  transforms: TransformModule = {},
): Promise<DataFile> {
  const { name, bytes, head } = text;
  const lists = as === undefined ? both.filter((list) => transforms[list]) : [as];
  const format = formatOf(name, head);
  if (format === 'json') return openJson(text, lists, as, transforms);
  // The export of an empty store is empty.
  const isExport = format === 'jsonl' && (exportLine.test(head) || head.trim() === '');
  if (isExport && as === undefined) return { name, bytes, rows: readExport(text) };
  if (lists.length === 0) throw asIsMissing(name);
  const isCsv = format === 'csv';
  const rows = isCsv ? readCsv(text) : readJsonLines(text);
  const ofEach = async function* () {
    for await (const row of rows) for (const list of lists) yield { ...row, list };
  };
  return { name, bytes: bytes * lists.length, isCsv, rows: ofEach() };
}

function formatOf(name: string, head: string): 'csv' | 'jsonl' | 'json' {
  if (/\.(?:csv|tsv)$/i.test(name)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/i.test(name)) return 'jsonl';
  const [first = '', ...more] = head.trimStart().split('\n');
  if (!/^[[{]/.test(first)) return /\.txt$|^standard input$/i.test(name) ? 'csv' : 'json';
  // mongoexport writes JSON Lines into files that are named .json.
  const isFollowed = exportLine.test(first) || more.some((line) => line.trim() !== '');
  return isFollowed && isPlainObject(parseJson(first).value) ? 'jsonl' : 'json';
}

async function openJson(
  text: Text,
  chosen: readonly Collection[],
  as: Collection | undefined,
  transforms: TransformModule,
): Promise<DataFile> {
  const { name, bytes } = text;
  const { value, repeated } = await readJson(text);
  const notes: string[] = [];
  const wanted = as === undefined ? both : [as];
  let lists: ReadonlyMap<Collection, readonly unknown[]>;
  if (transforms.source !== undefined) {
    lists = new Map(wanted.map((list) => [list, found(list, value, transforms)]));
    if (repeated !== undefined) notes.push(`${name} ${repeated}: the last one counts`);
  } else {
    if (repeated !== undefined) throw new Failure(`${name} ${repeated}.`);
    if (Array.isArray(value) && chosen.length === 0) throw asIsMissing(name);
    const isArray = Array.isArray(value);
    const members = isArray ? Object.fromEntries(chosen.map((list) => [list, value])) : value;
    lists = new Map(wanted.map((list) => [list, named(list, members, name)]));
    const others = Object.keys(Object(members)).filter((key) => !lists.has(key as Collection));
    if (others.length > 0) notes.push(`without ${others.join(', ')}`);
  }
  const count = [...lists.values()].reduce((sum, { length }) => sum + length, 0);
  const rows = async function* () {
    for (const [list, elements] of lists) {
      for (const [i, content] of elements.entries()) {
        yield { place: `${list}[${i}]`, bytes: bytes / count, content, list };
      }
    }
  };
  return { name, bytes, notes, rows: rows() };
}

/** A list that the export `source` of a transform finds in a document. */
function found(list: Collection, document: unknown, { source, path }: TransformModule) {
  try {
    const find = source?.[list];
    return find === undefined ? [] : [...find(document)];
  } catch (error) {
    throw new Failure(`source.${list} of ${path} found no list: ${(error as Error).message}.`);
  }
}

/** A list that a document names; it may miss one. */
function named(list: Collection, document: unknown, name: string): readonly unknown[] {
  if (!isPlainObject(document)) throw new Failure(`${name} is neither a JSON object nor an array.`);
  const elements = Object.hasOwn(document, list) ? document[list] : undefined;
  if (Array.isArray(elements)) return elements;
  const members = Object.keys(document);
  if (elements === undefined && members.some((key) => both.includes(key as Collection))) return [];
  const wanted = elements === undefined ? both.join(' or ') : list;
  throw new Failure(
    `${name} has no array named ${wanted}. Its members are ${members.slice(0, 20).join(', ')}. ` +
      'To say where its lists are, export "source" from a transform.',
  );
}

/** Reads what `rostrum export` writes: `{"user":{…}}` and `{"post":{…}}`, a line each. */
async function* readExport(text: Text): AsyncGenerator<ListRow> {
  for await (const row of readJsonLines(text)) {
    const members = isPlainObject(row.content) ? Object.entries(row.content) : [];
    const [key, content] = (members.length === 1 && members[0]) || [];
    if (key === 'user' || key === 'post') yield { ...row, content, list: `${key}s` };
    else yield { problem: 'It is neither {"user":{…}} nor {"post":{…}}.', ...row, list: 'users' };
  }
}

function asIsMissing(name: string): Failure {
  return new Failure(`${name} does not say what it holds: use --as users or --as posts.`);
}
