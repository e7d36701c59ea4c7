import { redactStoreUrl } from '../settings/store-url.ts';
import { ask } from './ask.ts';
import { Failure, type StoreSetting } from './failure.ts';
import { carriesOver, type LongRun, runLong } from './run-long.ts';
import { checkFile } from './transfer/check-file.ts';
import { copyRecords, type OtherRecords, othersText } from './transfer/copy-records.ts';
import { fileSource } from './transfer/file-source.ts';
import { summaryText } from './transfer/summary.ts';
import { withStore } from './with-store.ts';

/** `rostrum restore`: makes a store hold what an export holds. */
export async function restoreCommand(
  path: string,
  named: StoreSetting,
  { yes = false }: { readonly yes?: boolean } = {},
): Promise<void> {
  let isAsking = false;
  const restore = async (run: LongRun) => {
    const file = await checkFile(path, run);
    const confirm = async (others: OtherRecords) => {
      isAsking = true;
      await confirmLoss(others, yes, run.signal);
      isAsking = false;
    };
    return withStore(named, 'target', (store) =>
      copyRecords(fileSource(file, run.signal), store, { confirm, ...run }),
    );
  };
  const next = () => (isAsking ? 'nothing is restored' : carriesOver);
  const summary = await runLong(restore, next);
  process.stdout.write(
    `Restored, and equal to the file: ${summaryText(summary)}\n` +
      `  from ${path}\n  to   ${redactStoreUrl(named.url)}\n`,
  );
}

/** Says which records go, and asks on a terminal, unless `--yes` is there. */
async function confirmLoss(others: OtherRecords, yes: boolean, signal: AbortSignal): Promise<void> {
  const loss = `The store holds ${othersText(others)}`;
  if (yes) {
    process.stderr.write(`${loss}: they go.\n`);
    return;
  }
  const answer = await ask(`${loss}. Lose them?`, signal);
  if (answer === undefined) {
    throw new Failure(`${loss}: choose another store, or use --yes to lose them.`);
  }
  if (!answer) throw new Failure('Nothing is restored.');
}
