import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import type { Collection } from '../domain/record.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { counted, countsText, grouped } from './count.ts';
import { exitCodes, Failure, type StoreSetting } from './failure.ts';
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
  readonly as?: Collection;
  readonly transform?: string;
  readonly drafts?: boolean;
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
  const { keepIds = false, dryRun = false, report: reportPath } = flags;
  if (reportPath !== undefined) checkReportName(reportPath);
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
  const customFields = await readSchemaFiles(flags);
  const { summary, isComplete } = await runLong(async (run) => {
    const transforms = flags.transform ? await loadTransforms(flags.transform) : undefined;
    const text = await openText(path, run.signal);
    const file = await openDataFile(text, flags.as, transforms);
    const instant = await createInstant();
    const transformer = transforms && new Transformer(transforms, { file: file.name, instant });
    return withStore(named, dryRun ? 'rehearsal' : 'target', async (store) => {
      using refusals = new Refusals(reportPath);
      try {
        const result = await importRecords(file, store, {
          ...{ skipInvalid: false, ...flags, ...run, keepIds, customFields, instant, transformer },
          ...{
            added,
            report: (refusal) => refusals.add(refusal),
            onChecked: () => refusals.show(),
          },
        });
        throwFailure(result, refusals.reasons, flags);
        const unread = transformer?.unread ?? [];
        const notes = [
          ...(file.notes ?? []),
          ...(unread.length > 0 ? [`not used: ${unread.join(', ')}`] : []),
        ];
        const [add, publish] = dryRun ? ['Would add', 'Would publish'] : ['Added', 'Published'];
        const what =
          result.undated === result.good.posts && !transforms ? 'the file has' : 'they have';
        const summary = [
          `${add} ${countsText(dryRun ? result.good : added)}${restText(result, refusals.reasons)}`,
          ...[`  from ${file.name}`, `  to   ${redactStoreUrl(named.url)}`],
          ...notes.map((note) => `  ${note}`),
          ...(result.undated === 0
            ? []
            : [
                `${publish} ${counted(result.undated, 'post')}, because ${what} no publishedAt. To import them as drafts, use --drafts.`,
              ]),
        ];
        return { summary, isComplete: result.refused === 0 };
      } finally {
        run.progress.stop();
        refusals.show();
      }
    });
  }, next);
  print(...summary);
  if (!isComplete) process.exitCode = exitCodes.refused;
}

/** @throws Failure for an import that has not done what it was asked */
function throwFailure(
  { records, refused, late }: Imported,
  reasons: string,
  { skipInvalid, transform }: ImportFlags,
): void {
  if (refused > 0 && !skipInvalid) {
    const [are, them] = refused === 1 ? ['is', 'it'] : ['are', 'them'];
    const others = refused < records ? ', or use --skip-invalid to add the others' : '';
    const convert =
      refused === records && transform === undefined ? ', or use --transform FILE' : '';
    throw new Failure(
      `Nothing is added, because ${grouped(refused)} of ${counted(records, 'record')} ${are} ` +
        `refused (${reasons}): fix ${them}${others}${convert}.`,
      exitCodes.refused,
    );
  }
  if (late === 0) return;
  throw new Failure(
    `${counted(late, 'record')} ${late === 1 ? 'was' : 'were'} refused while the others were added: ` +
      'the store was written to meanwhile.',
    exitCodes.refused,
  );
}

/** What became of the rows and records that were not added. */
function restText({ omitted, there, deleted, refused }: Imported, reasons: string): string {
  const were = (count: number) => `${grouped(count)} ${count === 1 ? 'was' : 'were'}`;
  const parts = [
    there > 0 && `${were(there)} there already`,
    deleted > 0 && `${were(deleted)} deleted here and left out`,
    omitted > 0 && `the transform left out ${counted(omitted, 'row')}`,
    refused > 0 && `refused ${counted(refused, 'record')} (${reasons})`,
  ];
  return parts
    .filter(Boolean)
    .map((part) => `; ${part}`)
    .join('');
}
