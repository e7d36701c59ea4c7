import type { Collection } from '../../domain/record.ts';
import type { Store } from '../../ports/store.ts';
import { counted, grouped } from '../count.ts';
import { exitCodes, Failure } from '../failure.ts';
import type { DataFile } from './data-file.ts';
import { checkUsed } from './field-names.ts';
import { ListImport, type ListOptions, type Refusal } from './list-import.ts';
import { reasonOf } from './refusals.ts';

export interface ImportOptions extends ListOptions {
  /** Whether the other records are added when some are refused. */
  readonly skipInvalid: boolean;
  /** Whether nothing is added. */
  readonly dryRun?: boolean;
  /** Told when all records are checked, before any is added. */
  onChecked?(): void;
}

/** What has become of the records of a file. */
export interface Imported {
  readonly records: number;
  /** By the check, before anything was added. */
  readonly refused: number;
  /** The reasons, the most frequent first: `100 × /authorId unknown, 10 × /email taken`. */
  readonly reasons: string;
  /** How many an earlier import has added. */
  readonly there: number;
  /** How many the check found to be good. */
  readonly good: Readonly<Record<Collection, number>>;
  /** How many were refused while the others were added. */
  readonly late: number;
}

/** How many reasons are told apart: a file may have a wrong key of its own in every record. */
const mostReasons = 20;

/**
 * Adds the records of a file to a store, by the rules of the API.
 *
 * The file is read twice: all of it is checked before anything is added, and nothing is where a record is
 * refused that is not to be skipped. What is held here is a batch of records, the users' ids and
 * addresses, and the posts' ids when they are kept.
 *
 * @throws Failure when the file has no record, or when no record has a field that an option names
 */
export async function importRecords(
  file: DataFile,
  store: Store,
  given: ImportOptions,
): Promise<Imported> {
  const counts = new Map<string, number>();
  const report = (refusal: Refusal) => {
    for (const reason of refusal.issues.map(reasonOf)) {
      const known = counts.has(reason) || counts.size < mostReasons ? reason : 'other reasons';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    }
    given.report(refusal);
  };
  const options = { ...given, report };
  const users = new ListImport('users', store, options);
  const imports = { users, posts: new ListImport('posts', store, options, users) };
  const good = { users: 0, posts: 0 };
  let [records, refused, there, late] = [0, 0, 0, 0];
  for (const list of file.lists) {
    const found = await imports[list].check(file);
    records += found.records;
    refused += found.refused;
    there += found.there;
    good[list] = found.records - found.refused - found.there;
  }
  if (records === 0) {
    const instead = file.others.length === 0 ? '' : `, but ${file.others.join(', ')}`;
    throw new Failure(`${file.path} has no ${file.lists.join(' and no ')}${instead}.`);
  }
  checkUsed(file.columns ?? [], options.names, options.types);
  given.onChecked?.();
  if (!options.dryRun && (refused === 0 || options.skipInvalid)) {
    for (const list of file.lists) late += await imports[list].add(file);
  }
  return { records, refused, reasons: reasonsText(counts), there, good, late };
}

/** The end of an import that has not done what it was asked; undefined for one that has. */
export function failureOf(
  { records, refused, reasons, late }: Imported,
  { skipInvalid }: Pick<ImportOptions, 'skipInvalid'>,
): Failure | undefined {
  if (refused > 0 && !skipInvalid) {
    const [are, them] = refused === 1 ? ['is', 'it'] : ['are', 'them'];
    const others = refused < records ? ', or use --skip-invalid to add the others' : '';
    return new Failure(
      `Nothing is added, because ${grouped(refused)} of ${counted(records, 'record')} ${are} ` +
        `refused (${reasons}): fix ${them}${others}.`,
      exitCodes.refused,
    );
  }
  if (late === 0) return undefined;
  return new Failure(
    `${counted(late, 'record')} ${late === 1 ? 'was' : 'were'} refused while the others were added: ` +
      'the store or the file was written to meanwhile.',
    exitCodes.refused,
  );
}

function reasonsText(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([reason, count]) => `${grouped(count)} × ${reason}`).join(', ');
}
