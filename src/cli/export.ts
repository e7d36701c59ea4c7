import { redactStoreUrl } from '../settings/store-url.ts';
import { countsText } from './count.ts';
import type { StoreSetting } from './failure.ts';
import { runLong } from './run-long.ts';
import { exportFile } from './transfer/export-file.ts';
import { refuseExisting } from './transfer/part-file.ts';
import { withStore } from './with-store.ts';

/** `rostrum export`: writes a store into a file of JSON Lines. */
export async function exportCommand(file: string, named: StoreSetting): Promise<void> {
  refuseExisting(file);
  const counts = await runLong(
    (run) => withStore(named, 'source', (store) => exportFile(store, file, run)),
    () => 'run the same command again, and it begins anew',
  );
  process.stdout.write(
    `Exported ${countsText(counts)}\n  from ${redactStoreUrl(named.url)}\n  to   ${file}\n`,
  );
}
