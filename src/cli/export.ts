import { redactStoreUrl } from '../settings/store-url.ts';
import { countsText } from './count.ts';
import { Failure, type StoreSetting } from './failure.ts';
import { masked, print } from './output.ts';
import { runLong } from './run-long.ts';
import { exportFile, exportRecords } from './transfer/export-file.ts';
import { refuseExisting } from './transfer/part-file.ts';
import { withStore } from './with-store.ts';

/** `rostrum export`: writes a store into a file of JSON Lines, or to standard output. */
export async function exportCommand(file: string, named: StoreSetting): Promise<void> {
  const isFile = file !== '-';
  if (isFile && !/\.(?:jsonl|ndjson)$/i.test(file)) {
    throw new Failure(`An export is JSON Lines: give it a name like rostrum.jsonl, not "${file}".`);
  }
  if (isFile) refuseExisting(file);
  const counts = await runLong(
    (run) =>
      withStore(named, 'source', (store) =>
        isFile ? exportFile(store, file, run) : exportRecords(store, toStandardOutput, run),
      ),
    () => 'run the same command again to start over',
  );
  const lines = [`Exported ${countsText(counts)}`, `  from ${redactStoreUrl(named.url)}`];
  if (isFile) print(...lines, `  to   ${file}`);
  else process.stderr.write(`${lines.map(masked).join('\n')}\n`);
}

function toStandardOutput(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
