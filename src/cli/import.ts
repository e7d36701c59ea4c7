import { redactStoreUrl } from '../adapters/inversify/index.ts';
import { withStore } from './open-side.ts';
import { readArguments } from './read-arguments.ts';
import type { Environment } from './read-options.ts';
import { storeSetting } from './store-setting.ts';
import { checkFile } from './transfer/check-file.ts';
import { copyRecords } from './transfer/copy-records.ts';
import { fileSource } from './transfer/file-source.ts';
import { run } from './transfer/run.ts';
import { tallyText } from './transfer/tally.ts';

/** `rostrum import`: makes a store hold what an export holds. */
export async function importCommand(args: readonly string[], env: Environment): Promise<void> {
  const wanted = { command: 'import', values: ['store'], switches: ['overwrite'], file: true };
  const given = readArguments(wanted, args);
  const side = { ...storeSetting(given.value('store'), env), isSource: false };
  const overwrite = given.isOn('overwrite');
  const tally = await run(async ({ progress, signal }) => {
    const file = await checkFile(given.file, { progress, signal });
    return withStore(side, (store) =>
      copyRecords(fileSource(file, signal), store, { overwrite, progress, signal }),
    );
  });
  process.stdout.write(
    `Imported, and equal to the file: ${tallyText(tally)}\n` +
      `  from ${given.file}\n  to   ${redactStoreUrl(side.url)}\n`,
  );
}
