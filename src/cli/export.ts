import { open } from 'node:fs/promises';
import { formatField, listFields } from '../domain/fields/declared-fields.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { checkJsonLinesName, type StoreSetting } from './failure.ts';
import { type Counts, countsText, masked, print } from './output.ts';
import { type LongRun, runLong } from './run-long.ts';
import { writeFile } from './transfer/part-file.ts';
import { batches, storeSource } from './transfer/source.ts';
import { withStore } from './with-store.ts';

/** `rostrum export`: writes all records to a JSON Lines file, or to standard output for `-`. */
export async function exportCommand(path: string, named: StoreSetting): Promise<void> {
  const isFile = path !== '-';
  if (isFile) checkJsonLinesName('rostrum export', path);
  const counts = await runLong(
    (run) =>
      withStore(named, 'source', (store) =>
        isFile ? exportFile(store, path, run) : exportRecords(store, toStandardOutput, run),
      ),
    () => 'run the same command again to start over',
  );
  const lines = [`Exported ${countsText(counts)}`, `  from ${redactStoreUrl(named.url)}`];
  if (isFile) print(...lines, `  to   ${path}`);
  else process.stderr.write(`${lines.map(masked).join('\n')}\n`);
}

/** Exports to a file. @throws Failure if the file exists */
export function exportFile(store: Store, path: string, run: LongRun): Promise<Counts> {
  return writeFile(path, async (part) => {
    await using file = await open(part, 'w');
    return await exportRecords(store, (text) => file.appendFile(text), run);
  });
}

/** Exports the declared fields and all records of a store as JSON Lines: users before posts, ordered by id. */
async function exportRecords(
  store: Store,
  write: (text: string) => Promise<unknown>,
  { progress, signal }: LongRun,
): Promise<Counts> {
  const source = storeSource(store, signal);
  const [all, written] = [await source.count(), { users: 0, posts: 0 }];
  for (const field of listFields(store.declaredFields ?? {})) {
    await write(`${JSON.stringify({ field: formatField(field) })}\n`);
  }
  for (const list of ['users', 'posts'] as const) {
    for await (const batch of batches(source[list](), ({ json }) => json.length)) {
      await write(batch.map(({ json }) => `{"${list.slice(0, -1)}":${json}}\n`).join(''));
      written[list] += batch.length;
      progress(list, written[list], all[list]);
    }
  }
  return written;
}

function toStandardOutput(text: string): Promise<unknown> {
  return new Promise((done) => process.stdout.write(text, done));
}
