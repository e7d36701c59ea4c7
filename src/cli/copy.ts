import { resolve } from 'node:path';
import { redactStoreUrl } from '../settings/store-url.ts';
import { Failure } from './failure.ts';
import { runLong } from './run-long.ts';
import { copyRecords, type OtherRecords, othersText } from './transfer/copy-records.ts';
import { countsText, storeSource } from './transfer/source.ts';
import { withStore } from './with-store.ts';

interface Options {
  readonly from: string;
  readonly to: string;
  readonly overwrite?: boolean;
}

/** `rostrum copy`: makes a store hold what another one holds. */
export async function copyCommand({ from, to, overwrite = false }: Options): Promise<void> {
  if (fileOf(from) === fileOf(to)) {
    throw new Failure(`--to is "${redactStoreUrl(to)}", the very store that --from names.`);
  }
  const confirm = (others: OtherRecords) => {
    if (!overwrite) throw otherRecords(others);
  };
  const counts = await runLong(({ progress, signal }) =>
    withStore({ setting: '--from', url: from }, 'source', (source) =>
      withStore({ setting: '--to', url: to }, 'target', (target) =>
        copyRecords(storeSource(source, signal), target, { confirm, progress, signal }),
      ),
    ),
  );
  process.stdout.write(
    `Copied, and equal on both sides: ${countsText(counts)}\n` +
      `  from ${redactStoreUrl(from)}\n  to   ${redactStoreUrl(to)}\n`,
  );
}

function otherRecords(others: OtherRecords): Failure {
  return new Failure(
    `The target holds ${othersText(others)}: choose another target, or use --overwrite to ` +
      'replace them by what the source has.',
  );
}

/** Two names of one file are one store. */
function fileOf(url: string): string {
  return url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : url;
}
