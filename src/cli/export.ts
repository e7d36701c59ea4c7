import { redactStoreUrl } from '../adapters/inversify/index.ts';
import { withStore } from './open-side.ts';
import { readArguments } from './read-arguments.ts';
import type { Environment } from './read-options.ts';
import { storeSetting } from './store-setting.ts';
import { exportFile } from './transfer/export-file.ts';
import { refuseExisting } from './transfer/keep-part.ts';
import { run } from './transfer/run.ts';
import { storeSource } from './transfer/source.ts';
import { tallyText } from './transfer/tally.ts';

/** `rostrum export`: writes a store into a file of JSON Lines. */
export async function exportCommand(args: readonly string[], env: Environment): Promise<void> {
  const given = readArguments({ command: 'export', values: ['store'], file: true }, args);
  const side = { ...storeSetting(given.value('store'), env), isSource: true };
  refuseExisting(given.file);
  const tally = await run(({ progress, signal }) =>
    withStore(side, (store) =>
      exportFile(storeSource(store, signal), given.file, { progress, signal }),
    ),
  );
  process.stdout.write(
    `Exported, and equal to the store: ${tallyText(tally)}\n` +
      `  from ${redactStoreUrl(side.url)}\n  to   ${given.file}\n`,
  );
}
