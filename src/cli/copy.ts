import { resolve } from 'node:path';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { Failure, type StoreSetting, storeUrlOf } from './failure.ts';
import { countsText, print } from './output.ts';
import { runLong } from './run-long.ts';
import { copyRecords } from './transfer/copy-records.ts';
import { withStore } from './with-store.ts';

export interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
}

/** `rostrum copy`: copies all records to another store. */
export async function copyCommand({ from, to, overwrite = false }: CopyFlags): Promise<void> {
  const [source, target] = [
    { setting: '--from', url: from },
    { setting: '--to', url: to },
  ];
  if (placeOf(source) === placeOf(target)) {
    throw new Failure(`--to is "${redactStoreUrl(to)}", the same store as --from.`);
  }
  const counts = await runLong(
    (run) =>
      withStore(source, 'source', (read) => {
        const copy = (write: Store) => copyRecords(read, write, { ...run, overwrite });
        return withStore(target, 'copy-target', copy, { declaredFields: read.declaredFields });
      }),
    () => 'run the same command again to copy the rest',
  );
  print(`Copied, and equal on both sides: ${countsText(counts)}`);
  print(`  from ${redactStoreUrl(from)}`, `  to   ${redactStoreUrl(to)}`);
}

/** Identifies a store: two paths can name the same file. */
function placeOf(named: StoreSetting): string {
  const store = storeUrlOf(named);
  return store.kind === 'sqlite' ? resolve(store.path) : named.url;
}
