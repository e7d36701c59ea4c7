import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import type { Collection } from '../domain/record.ts';
import type { Store } from '../ports/store.ts';
import { customFiltersOf } from '../settings/settings.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { counted, countsText, grouped } from './count.ts';
import { checkSetting, exitCodes, Failure, type StoreSetting } from './failure.ts';
import { openDataFile } from './import/data-file.ts';
import { type Imported, importRecords } from './import/import-records.ts';
import { createInstant } from './import/instant.ts';
import { checkReportName, Refusals } from './import/refusals.ts';
import { openText } from './import/text.ts';
import { loadTransforms, Transformer } from './import/transform.ts';
import { print } from './output.ts';
import { runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

export interface ImportFlags extends SchemaFiles {
  readonly index: readonly string[];
  readonly as?: Collection;
  readonly transform?: string;
  readonly drafts?: boolean;
  readonly keepIds?: boolean;
  readonly restoreDeleted?: boolean;
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  readonly report?: string;
}

/** `rostrum import`: adds the records of people's own files. */
export async function importCommand(
  path: string,
  named: StoreSetting,
  flags: ImportFlags,
  indexSetting: string,
): Promise<void> {
  const { keepIds = false, dryRun = false, report } = flags;
  if (report !== undefined) checkReportName(report);
  process.stdout.on('error', () => {}); // A full disk or a reader that ends: the import goes on.
  const added = { users: 0, posts: 0 };
  // Only its id tells a record of the file that is added already from another one.
  const next = () => {
    const again = 'run the same command again';
    if (added.users + added.posts === 0) return `${again}: nothing was added`;
    return keepIds
      ? `${again}, and it adds the rest: ${countsText(added)} are added already`
      : `remove the ${countsText(added)} that are added already: the same command adds all of them again`;
  };
  const customFilters = checkSetting(indexSetting, flags.index, customFiltersOf);
  const customFields = await readSchemaFiles({ ...flags, customFilters });
  const summary = await runLong(async (run) => {
    const { as, transform } = flags;
    const module = transform === undefined ? undefined : await loadTransforms(transform, as);
    const text = await openText(path, run.signal);
    const file = await openDataFile(text, as, module);
    const instant = await createInstant();
    const transformer = module && new Transformer(module, { file: file.name, instant });
    const declared = { customFields, customFilters };
    const settings = { skipInvalid: false, ...flags, ...declared, keepIds, instant, transformer };
    const work = async (store: Store) => {
      using refusals = new Refusals(report);
      try {
        const result = await importRecords(file, store, {
          ...{ ...settings, ...run, added },
          report: (refusal) => refusals.add(refusal),
        });
        throwFailure(result, flags);
        if (result.refused > 0) process.exitCode = exitCodes.refused;
        const [add, counts] = dryRun ? ['Would add', result.good] : ['Added', added];
        const unread = transformer?.unread ?? [];
        const notes = unread.length === 0 ? [] : [`not used: ${unread.join(', ')}`];
        return [
          `${add} ${countsText(counts)}${restText(result)}`,
          ...[`  from ${file.name}`, `  to   ${redactStoreUrl(named.url)}`],
          ...[...(file.notes ?? []), ...notes].map((note) => `  ${note}`),
          ...undatedText(result, flags),
        ];
      } finally {
        run.progress.end(); // Before the refusals are printed.
      }
    };
    return withStore(named, dryRun ? 'rehearsal' : 'target', work, { customFilters });
  }, next);
  print(...summary);
}

/** @throws Failure for an import that has not done what it was asked */
function throwFailure({ records, refused, late }: Imported, { skipInvalid }: ImportFlags): void {
  if (refused > 0 && !skipInvalid) {
    throw new Failure(
      `Nothing was added: ${grouped(refused)} of ${counted(records, 'record')} rejected. ` +
        'Fix the file, or use --skip-invalid to add the others.',
      exitCodes.refused,
    );
  }
  if (late === 0) return;
  throw new Failure(
    `Refused while the others were added: ${counted(late, 'record')}. The store was written to meanwhile.`,
    exitCodes.refused,
  );
}

/** What became of the rows and records that were not added. */
function restText({ omitted, there, deleted, refused }: Imported): string {
  const rest = {
    'there already': there,
    'deleted from the store': deleted,
    'left out by the transform': omitted,
    refused,
  };
  const some = Object.entries(rest).filter(([, count]) => count > 0);
  return some.map(([what, count]) => `; ${what}: ${grouped(count)}`).join('');
}

/** Posts are never published in silence. */
function undatedText({ undated }: Imported, { dryRun }: ImportFlags): string[] {
  if (undated === 0) return [];
  const publish = `${dryRun ? 'Would publish' : 'Published'} ${counted(undated, 'post')}`;
  return [`${publish}, because they have no publishedAt. To import them as drafts, use --drafts.`];
}
