import { resolve } from 'node:path';
import { redactStoreUrl } from '../settings/store-url.ts';
import { countsText } from './count.ts';
import { Failure } from './failure.ts';
import { runLong } from './run-long.ts';
import { copyRecords } from './transfer/copy-records.ts';
import { withStore } from './with-store.ts';

export interface CopyFlags {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
}

/** `rostrum copy`: makes a store hold what another one holds. */
export async function copyCommand({ from, to, overwrite = false }: CopyFlags): Promise<void> {
  if (fileOf(from) === fileOf(to)) {
    throw new Failure(`--to is "${redactStoreUrl(to)}", the very store that --from names.`);
  }
  const counts = await runLong((run) =>
    withStore({ setting: '--from', url: from }, 'source', (source) =>
      withStore({ setting: '--to', url: to }, 'target', (target) =>
        copyRecords(source, target, { ...run, overwrite }),
      ),
    ),
  );
  process.stdout.write(
    `Copied, and equal on both sides: ${countsText(counts)}\n` +
      `  from ${redactStoreUrl(from)}\n  to   ${redactStoreUrl(to)}\n`,
  );
}

/** Two names of one file are one store. */
function fileOf(url: string): string {
  return url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : url;
}
