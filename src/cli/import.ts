import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import type { Collection } from '../domain/record.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { counted, countsText, grouped } from './count.ts';
import { exitCodes, type StoreSetting } from './failure.ts';
import { openDataFile } from './import/data-file.ts';
import { readNames } from './import/field-names.ts';
import { readTypes, withKnownTimes } from './import/field-types.ts';
import { failureOf, type Imported, importRecords } from './import/import-records.ts';
import type { Refusal } from './import/list-import.ts';
import { Refusals } from './import/refusals.ts';
import { checkReportName, ReportFile } from './import/report-file.ts';
import { createReadTime } from './import/times.ts';
import { runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

export interface ImportFlags extends SchemaFiles {
  readonly as?: Collection;
  readonly map?: readonly string[];
  readonly type?: readonly string[];
  readonly timeZone?: string;
  readonly keepIds?: boolean;
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  readonly report?: string;
}

/** `rostrum import`: adds the records of people's own files. */
export async function importCommand(
  path: string,
  named: StoreSetting,
  flags: ImportFlags = {},
): Promise<void> {
  const { as, timeZone, keepIds = false, skipInvalid = false, dryRun = false, report } = flags;
  if (report !== undefined) checkReportName(report, path);
  const settings = {
    ...{ names: readNames(flags.map ?? []), types: withKnownTimes(readTypes(flags.type ?? [])) },
    ...{ readTime: await createReadTime(timeZone), timeZone },
    ...{ customFields: await readSchemaFiles(flags), keepIds, skipInvalid, dryRun },
  };
  process.stdout.on('error', () => {}); // A full disk or a reader that ends: the import goes on.
  const refusals = new Refusals();
  const show = () => process.stdout.write(refusals.take(report));
  const added = { users: 0, posts: 0 };
  // Nothing tells a record of the file that is added already from another one, but its id.
  const next = () => {
    const again = 'run the same command again';
    if (added.users + added.posts === 0) return `${again}: nothing was added`;
    return keepIds
      ? `${again}, and it adds the rest: ${countsText(added)} are added already`
      : `remove the ${countsText(added)} that are added already: the same command adds all of them again`;
  };
  const result = await runLong(async (run) => {
    const file = await openDataFile(path, as);
    return withStore(named, dryRun ? 'rehearsal' : 'target', async (store) => {
      // An import that is interrupted leaves what its report has so far.
      using rows = report === undefined ? undefined : new ReportFile(report, file);
      const onRefusal = (refusal: Refusal) => {
        refusals.add(refusal);
        rows?.add(refusal);
      };
      const onChecked = () => {
        rows?.flush();
        show();
      };
      const options = { ...run, ...settings, added, report: onRefusal, onChecked };
      return { ...(await importRecords(file, store, options)), others: file.others };
    });
  }, next).finally(show);
  const failure = failureOf(result, { skipInvalid });
  if (failure !== undefined) throw failure;
  const { good, refused, others } = result;
  process.stdout.write(
    `${dryRun ? 'Would add' : 'Added'} ${countsText(dryRun ? good : added)}${restText(result)}\n` +
      `  from ${path}\n  to   ${redactStoreUrl(named.url)}\n` +
      (others.length === 0 ? '' : `  without ${others.join(', ')}\n`),
  );
  if (refused > 0) process.exitCode = exitCodes.refused;
}

/** What became of the records that were not added. */
function restText({ there, refused, reasons }: Imported): string {
  const were = there === 1 ? 'was' : 'were';
  return (
    (there === 0 ? '' : `; ${grouped(there)} ${were} there already`) +
    (refused === 0 ? '' : `; refused ${counted(refused, 'record')} (${reasons})`)
  );
}
