import { redactStoreUrl } from '../settings/store-url.ts';
import type { StoreSetting } from './failure.ts';
import { runLong } from './run-long.ts';
import { checkFile } from './transfer/check-file.ts';
import { copyRecords } from './transfer/copy-records.ts';
import { fileSource } from './transfer/file-source.ts';
import { summaryText } from './transfer/summary.ts';
import { withStore } from './with-store.ts';

/** `rostrum import`: makes a store hold what an export holds. */
export async function importCommand(
  path: string,
  named: StoreSetting,
  { overwrite = false }: { readonly overwrite?: boolean } = {},
): Promise<void> {
  const summary = await runLong(async (run) => {
    const file = await checkFile(path, run);
    return withStore(named, 'target', (store) =>
      copyRecords(fileSource(file, run.signal), store, { overwrite, ...run }),
    );
  });
  process.stdout.write(
    `Imported, and equal to the file: ${summaryText(summary)}\n` +
      `  from ${path}\n  to   ${redactStoreUrl(named.url)}\n`,
  );
}
