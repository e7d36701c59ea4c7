import type { Store } from '../../ports/store.ts';
import { counted } from '../count.ts';
import { Failure } from '../failure.ts';
import type { DataFile } from './data-file.ts';
import { checkUsed } from './field-names.ts';
import { ListImport, type ListOptions, type Refusal } from './list-import.ts';

export interface ImportOptions extends ListOptions {
  /** Whether the other records are added when some are refused. */
  readonly skipInvalid: boolean;
}

/** How many reasons are told apart: a file may have a wrong key of its own in every record. */
const mostReasons = 20;

/**
 * Adds the records of a file to a store, by the rules of the API.
 *
 * The file is read twice: all of it is checked before anything is added. What is held here is a
 * batch of records, the users' ids and addresses, and the posts' ids when they are kept.
 *
 * @returns how many records are refused, and why
 * @throws Failure when some are refused and not to be skipped, when the file has no record, or when
 * no record has a field that has another name
 */
export async function importRecords(
  file: DataFile,
  store: Store,
  given: ImportOptions,
): Promise<{ readonly refused: number; readonly reasons: string }> {
  const counts = new Map<string, number>();
  const report = (refusal: Refusal) => {
    for (const { pointer, code } of refusal.issues) {
      const reason = `${pointer} ${code}`.trimStart();
      const known = counts.has(reason) || counts.size < mostReasons ? reason : 'other reasons';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    }
    given.report(refusal);
  };
  const options = { ...given, report };
  const users = new ListImport('users', store, options);
  const imports = { users, posts: new ListImport('posts', store, options, users) };
  let [records, refused, late] = [0, 0, 0];
  for (const list of file.lists) {
    const found = await imports[list].check(file);
    records += found.records;
    refused += found.refused;
  }
  if (records === 0) {
    const instead = file.others.length === 0 ? '' : `, but ${file.others.join(', ')}`;
    throw new Failure(`${file.path} has no ${file.lists.join(' and no ')}${instead}.`);
  }
  checkUsed(options.names);
  const reasons = reasonsText(counts);
  if (refused > 0 && !options.skipInvalid) {
    const [are, them] = refused === 1 ? ['is', 'it'] : ['are', 'them'];
    const others = refused < records ? ', or use --skip-invalid to add the others' : '';
    throw new Failure(
      `Nothing is added, because ${refused} of ${counted(records, 'record')} ${are} refused ` +
        `(${reasons}): fix ${them}${others}.`,
    );
  }
  for (const list of file.lists) late += await imports[list].add(file);
  if (late === 0) return { refused, reasons };
  throw new Failure(
    `${counted(late, 'record')} ${late === 1 ? 'was' : 'were'} refused while the others were added: ` +
      'the store or the file was written to meanwhile.',
  );
}

/** The most frequent first: `100 × /authorId unknown, 10 × /email taken`. */
function reasonsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, count]) => `${count} × ${reason}`).join(', ');
}
