import { isPlainObject } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import type { ImportRow } from '../../domain/services/imports.ts';
import type { Source } from '../../import.ts';
import { Failure } from '../failure.ts';
import { delimiterOf, readCsv } from './csv.ts';
import { type FileRow, parseJson, readJson, readJsonLines, type Text } from './text.ts';
import type { TransformModule } from './transform.ts';

/** A row, the collection that it belongs to, and the record that it becomes. */
export interface ListRow extends FileRow, ImportRow {
  /** Whether the row is a record of Rostrum, with the names of the fields as they are. */
  readonly isExported?: boolean;
}

export interface DataFile {
  /** The path, or `standard input`. */
  readonly name: string;
  /** Separates the cells of CSV. Absent for JSON. */
  readonly delimiter?: string | undefined;
  /** The declared fields of an export, such as `posts.slug:text`. */
  readonly fields?: readonly string[] | undefined;
  readonly rows: AsyncIterable<ListRow> | Iterable<ListRow>;
}

const both = ['users', 'posts'] as const;

/** A line that `rostrum export` writes. */
const exportLine = /^\s*\{\s*"(?:field|user|post)"\s*:/;

/** Lines that declare a field, which are the first ones. */
const fieldLine = /^\{"field":"(.*)"\}$/gm;

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
  const { name, head } = text;
  const format = formatOf(name, head);
  if (format === 'json') return openDocument(name, await readJson(text), as, transforms);
  const isExport = format === 'jsonl' && as === undefined && exportLine.test(head);
  const lists = isExport ? [] : listsOf(name, as, transforms);
  const delimiter = format === 'csv' ? delimiterOf(text) : undefined;
  const rows = async function* () {
    for await (const row of delimiter ? readCsv(text, delimiter) : readJsonLines(text)) {
      if (!isExport)
        for (const list of row.problem ? lists.slice(0, 1) : lists) yield { ...row, list };
      else if (!Object.hasOwn(Object(row.content), 'field')) yield exported(row);
    }
  };
  const fields = isExport ? Array.from(head.matchAll(fieldLine), ([, field = '']) => field) : [];
  return { name, delimiter, fields, rows: rows() };
}

/** Opens a document: an object with lists, or an array. @throws Failure */
export function openDocument(
  name: string,
  document: unknown,
  as?: Collection,
  transforms: TransformModule = {},
): DataFile {
  const { source } = transforms;
  const isNamed = !Array.isArray(document) || source !== undefined;
  const rowsOf = (list: Collection) =>
    Array.from(listIn(document, list, name, source), (content, i) => {
      return { place: `${list}[${i}]`, content, list };
    });
  return { name, rows: (isNamed && !as ? both : listsOf(name, as, transforms)).flatMap(rowsOf) };
}

function listsOf(name: string, as: Collection | undefined, transforms: TransformModule) {
  const lists = as ? [as] : both.filter((list) => transforms[list]);
  if (lists.length > 0) return lists;
  throw new Failure(`${name} does not say what it contains: use --as users or --as posts.`);
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

/** Finds a list in a document. A document that names its lists can lack one of the two. */
function listIn(
  document: unknown,
  list: Collection,
  name: string,
  source: Source | undefined,
): readonly unknown[] {
  if (source !== undefined) {
    const find = source[list] ?? (() => []);
    try {
      return [...find(document)];
    } catch (error) {
      const { message } = error as Error;
      throw new Failure(`source.${list} of the transform found no list: ${message}.`);
    }
  }
  if (Array.isArray(document)) return document;
  const members: Readonly<Record<string, unknown>> = Object(document);
  const isOther = both.every((one) => members[one] === undefined);
  const elements = members[list] ?? [];
  if (typeof elements === 'object' && Symbol.iterator in Object(elements) && !isOther)
    return [...(elements as Iterable<unknown>)];
  const names = Object.keys(members).slice(0, 20).join(', ');
  throw new Failure(
    `${name} has no array named ${isOther ? both.join(' or ') : list}. Its members are ${names}. ` +
      'To say where its lists are, export "source" from a transform.',
  );
}

/** A line of `rostrum export` is `{"user":{…}}` or `{"post":{…}}`. */
function exported(row: FileRow): ListRow {
  const members = Object.entries(Object(row.content));
  const [key, content] = (members.length === 1 && members[0]) || [];
  if (key === 'user' || key === 'post') {
    return { ...row, content, list: `${key}s`, isExported: true };
  }
  const problem = row.problem ?? 'It is neither {"user":{…}} nor {"post":{…}}.';
  return { ...row, problem, list: 'users' };
}
