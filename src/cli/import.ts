import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import type { Collection } from '../domain/record.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { counted, countsText } from './count.ts';
import type { StoreSetting } from './failure.ts';
import { openDataFile } from './import/data-file.ts';
import { readNames } from './import/field-names.ts';
import { importRecords } from './import/import-records.ts';
import type { Refusal } from './import/list-import.ts';
import { runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

export interface ImportFlags extends SchemaFiles {
  readonly as?: Collection;
  readonly map?: readonly string[];
  readonly keepIds?: boolean;
  readonly skipInvalid?: boolean;
}

/** `rostrum import`: adds the records of people's own files. */
export async function importCommand(
  path: string,
  named: StoreSetting,
  { as, map = [], keepIds = false, skipInvalid = false, ...files }: ImportFlags = {},
): Promise<void> {
  const names = readNames(map);
  const customFields = await readSchemaFiles(files);
  // The reader of the report may end before it.
  process.stdout.on('error', () => {});
  const added = { users: 0, posts: 0 };
  const counts = () => countsText(added);
  // Nothing tells a record of the file that is added already from another one, but its id.
  const next = () => {
    const again = 'run the same command again';
    if (added.users + added.posts === 0) return `${again}: nothing was added`;
    return keepIds
      ? `${again} with --skip-invalid: ${counts()} are added already`
      : `remove the ${counts()} that are added already: the same command adds all of them again`;
  };
  const { refused, reasons, others } = await runLong(async (run) => {
    const file = await openDataFile(path, as);
    const options = { ...run, names, customFields, keepIds, skipInvalid, report, added };
    const result = await withStore(named, 'target', (store) => importRecords(file, store, options));
    return { ...result, others: file.others };
  }, next);
  process.stdout.write(
    `Added ${counts()}${refused === 0 ? '' : `; refused ${counted(refused, 'record')} (${reasons})`}\n` +
      `  from ${path}\n  to   ${redactStoreUrl(named.url)}\n` +
      (others.length === 0 ? '' : `  without ${others.join(', ')}\n`),
  );
}

/** Prints what is wrong with a record, an issue a line. */
function report({ place, issues }: Refusal): void {
  // A progress bar may be on this line of the terminal.
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[2K');
  for (const { pointer, code, message } of issues) {
    const where = pointer === '' ? '' : ` ${pointer}`;
    process.stdout.write(`${place}${where} ${code}: ${message}\n`);
  }
}
