import { readSchemaFiles, type SchemaFiles } from '../adapters/json-schema/index.ts';
import { addDeclarations, listFields } from '../domain/fields/declared-fields.ts';
import type { Collection } from '../domain/records/record.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { checkJsonLinesName, exitCodes, Failure, type StoreSetting } from './failure.ts';
import { fieldsOf } from './field.ts';
import { openDataFile, openDocument } from './import/data-file.ts';
import { type Imported, importRecords } from './import/import-records.ts';
import { createInstant } from './import/instant.ts';
import { checkReport, createReport } from './import/rejections.ts';
import { openText } from './import/text.ts';
import {
  createTransformer,
  loadTransforms,
  readDocument,
  type Transformer,
} from './import/transform.ts';
import { counted, countsText, grouped, print, quoted } from './output.ts';
import { runLong } from './run-long.ts';
import { withStore } from './with-store.ts';

export interface ImportFlags extends SchemaFiles {
  readonly field: readonly string[];
  readonly as?: Collection;
  readonly transform?: string;
  readonly drafts?: boolean;
  readonly keepIds?: boolean;
  readonly restoreDeleted?: boolean;
  readonly matchStoredAuthors?: boolean;
  readonly ignoreColumn?: readonly string[];
  readonly skipInvalid?: boolean;
  readonly dryRun?: boolean;
  readonly report?: string;
}

/** `rostrum import`: adds the records of a file. */
export async function importCommand(
  path: string,
  named: StoreSetting,
  flags: ImportFlags,
): Promise<void> {
  const { as, transform, keepIds, skipInvalid, dryRun, report } = flags;
  if (report !== undefined) {
    checkJsonLinesName('--report', report);
    await checkReport(report);
  }
  process.stdout.on('error', () => {}); // Continue if the disk is full, or if the reader exits.
  const added = { users: 0, posts: 0 };
  const next = () => {
    const again = 'run the same command again';
    if (added.users + added.posts === 0) return `${again}: nothing was added`;
    return keepIds
      ? `${again}, and it adds the rest: ${countsText(added)} are added already`
      : `remove the ${countsText(added)} that are added already: the same command adds all of them again`;
  };
  await runLong(async (run) => {
    const module = transform === undefined ? undefined : await loadTransforms(transform, as);
    const file = module?.read
      ? openDocument(path, await readDocument(path, module.read), as, module)
      : await openDataFile(await openText(path, run.signal), as, module);
    const instant = await createInstant();
    const transformer = module && createTransformer(module, { file: file.name, instant });
    const given = fieldsOf([...flags.field, ...(file.fields ?? [])]);
    const add = async (store: Store) => {
      const stored = listFields(store.declaredFields ?? {});
      // In a dry run, the store was opened without the given ones.
      const declaredFields = addDeclarations(stored, given).all;
      const customFields = await readSchemaFiles({ ...flags, declaredFields });
      const rejections = createReport(report);
      const options = {
        ...flags,
        ...run,
        customFields,
        declaredFields,
        instant,
        transformer,
        added,
      };
      const adding = importRecords(file, store, { ...options, report: rejections.add });
      return adding.finally(rejections.end);
    };
    const role = dryRun ? 'rehearsal' : 'target';
    const result = await withStore(named, role, add, { declaredFields: given });
    const { records, rejected, undated, unknownAuthors, storedAuthors } = result;
    print(...result.advice());
    if (storedAuthors.rejected > 0) {
      const authors = counted(storedAuthors.rejected, 'post');
      print(`To accept the stored authors of ${authors}, use --match-stored-authors.`);
    }
    if (rejected > 0 && !skipInvalid && added.users + added.posts === 0) {
      const unknown = unknownAuthors > 0 ? ` (author not found: ${grouped(unknownAuthors)})` : '';
      throw new Failure(
        `Nothing was added: ${grouped(rejected)} of ${counted(records, 'record')} rejected${unknown}. ` +
          'Fix the file, or use --skip-invalid to add the others.',
        exitCodes.rejected,
      );
    }
    if (rejected > 0) process.exitCode = exitCodes.rejected;
    const [verb, publish] = dryRun ? ['Would add', 'Would publish'] : ['Added', 'Published'];
    print(`${verb} ${countsText(dryRun ? result.good : added)}${restText(result)}`);
    print(`  from ${file.name}`, `  to   ${redactStoreUrl(named.url)}`);
    print(...contentLines(result, transformer));
    if (undated.count > 0) {
      const rest = undated.count > undated.names.length ? ', …' : '';
      const names = `(${undated.names.join(', ')}${rest})`;
      const because = 'because they have no publishedAt. To import them as drafts, use --drafts.';
      print(`${publish} ${counted(undated.count, 'post')} ${names}, ${because}`);
    }
  }, next);
}

/** Says what the posts are, and what became of the fields of the file that nobody named. */
function contentLines(result: Imported, transformer: Transformer | undefined): string[] {
  const { withoutAuthor, withoutBody, fields, storedAuthors } = result;
  const { unused = [], copied = [] } = transformer?.unread() ?? {};
  const custom = [...fields].filter(([, { isCustom }]) => isCustom);
  const stored = custom.map(([name, { count, example }]) => {
    return `${name} (${counted(count, 'record')}, for example ${quoted(example)})`;
  });
  const posts = {
    public: result.public,
    scheduled: result.scheduled,
    [result.drafts === 1 ? 'draft' : 'drafts']: result.drafts,
    'without an author': withoutAuthor,
    'with an empty body': withoutBody,
  };
  const lines = {
    posts: textOf(posts),
    'left out': textOf(Object.fromEntries(transformer?.leftOut ?? [])),
    'authors from the store': [...storedAuthors.found].join(', '),
    'stored as custom fields': stored.join(', '),
    'not used': unused.join(', '),
    'copied, but not stored': copied.filter((name) => !fields.has(name)).join(', '),
  };
  return Object.entries(lines).flatMap(([what, line]) => (line ? [`  ${what}: ${line}`] : []));
}

const textOf = (counts: Readonly<Record<string, number>>) => {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some.map(([what, count]) => `${grouped(count)} ${what}`).join(', ');
};

/** The counts of rows and records that were not added. */
function restText({ omitted, there, deleted, rejected }: Imported): string {
  const rest = {
    'there already': there,
    'deleted from the store': deleted,
    'left out by the transform': omitted,
    rejected,
  };
  const some = Object.entries(rest).filter(([, count]) => count > 0);
  return some.map(([what, count]) => `; ${what}: ${grouped(count)}`).join('');
}
