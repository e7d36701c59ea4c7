import { isPlainObject } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { Failure } from '../failure.ts';
import { readCsv } from './csv.ts';
import { type FileRow, parseJson, readJson, readJsonLines, type Text } from './text.ts';
import type { TransformModule } from './transform.ts';

/** A row, and the collection that it belongs to. */
export type ListRow = FileRow & { readonly list: Collection };

export interface DataFile {
  /** The path, or `standard input`. */
  readonly name: string;
  readonly bytes: number;
  readonly isCsv?: boolean;
  readonly rows: AsyncIterable<ListRow> | Iterable<ListRow>;
}

const both = ['users', 'posts'] as const;

/** A line that `rostrum export` writes. */
const exportLine = /^\s*\{\s*"(?:user|post)"\s*:/;

/**
 * Opens a file by its format: `.csv` and `.tsv` are CSV, `.jsonl` and `.ndjson` are JSON Lines, and the
 * format of other files is detected from their content.
 *
 * @param as the collection that an array, JSON Lines or CSV contains. By default, the collections that
 * have a transform.
 * @throws Failure if the file is not JSON, or if its collection is unknown
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
  // The export of an empty store is an empty file.
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
  // mongoexport writes JSON Lines to files named .json: the first line is a whole object.
  const isFollowed = exportLine.test(first) || more.some((line) => line.trim() !== '');
  return isFollowed && isPlainObject(parseJson(first).value) ? 'jsonl' : 'json';
}

/** @param ofArray the collections that the document contains if it is an array */
async function openJson(
  text: Text,
  ofArray: readonly Collection[],
  as: Collection | undefined,
  { source }: TransformModule,
): Promise<DataFile> {
  const { name, bytes } = text;
  const document = await readJson(text);
  const array = Array.isArray(document) && source === undefined ? document : undefined;
  if (array !== undefined && ofArray.length === 0) throw asIsMissing(name);
  const wanted = array === undefined && as === undefined ? both : ofArray;
  const lists = wanted.map((list) => {
    if (source === undefined) return { list, elements: array ?? named(list, document, name) };
    try {
      const find = source[list] ?? (() => []);
      return { list, elements: [...find(document)] };
    } catch (error) {
      throw new Failure(
        `source.${list} of the transform found no list: ${(error as Error).message}.`,
      );
    }
  });
  const count = lists.reduce((sum, { elements }) => sum + elements.length, 0);
  const rows = function* () {
    for (const { list, elements } of lists) {
      for (const [i, content] of elements.entries()) {
        yield { place: `${list}[${i}]`, bytes: bytes / count, content, list };
      }
    }
  };
  return { name, bytes, rows: rows() };
}

/** A list that a document names. It can lack one of the two. */
function named(list: Collection, document: unknown, name: string): readonly unknown[] {
  if (!isPlainObject(document)) throw new Failure(`${name} is neither a JSON object nor an array.`);
  const elements = Object.hasOwn(document, list) ? document[list] : undefined;
  if (Array.isArray(elements)) return elements;
  const members = Object.keys(document);
  if (elements === undefined && both.some((one) => members.includes(one))) return [];
  const wanted = elements === undefined ? both.join(' or ') : list;
  throw new Failure(
    `${name} has no array named ${wanted}. Its members are ${members.slice(0, 20).join(', ')}. ` +
      'To say where its lists are, export "source" from a transform.',
  );
}

/** Reads what `rostrum export` writes: lines of `{"user":{…}}` and `{"post":{…}}`. */
async function* readExport(text: Text): AsyncGenerator<ListRow> {
  for await (const row of readJsonLines(text)) {
    const members = isPlainObject(row.content) ? Object.entries(row.content) : [];
    const [key, content] = (members.length === 1 && members[0]) || [];
    if (key === 'user' || key === 'post') yield { ...row, content, list: `${key}s` };
    else yield { problem: 'It is neither {"user":{…}} nor {"post":{…}}.', ...row, list: 'users' };
  }
}

function asIsMissing(name: string): Failure {
  return new Failure(`${name} does not say what it contains: use --as users or --as posts.`);
}
