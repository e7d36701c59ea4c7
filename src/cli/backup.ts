import { rm, stat } from 'node:fs/promises';
import { parseStoreUrl, redactStoreUrl } from '../adapters/inversify/index.ts';
import { backupSqlite } from '../adapters/sqlite/index.ts';
import { readArguments } from './read-arguments.ts';
import type { Environment } from './read-options.ts';
import { storeRefused } from './setting-error.ts';
import { reasonOf } from './store-problems.ts';
import { storeSetting } from './store-setting.ts';
import { keepPart, refuseExisting } from './transfer/keep-part.ts';
import { run } from './transfer/run.ts';

/** `rostrum backup`: copies the file of an SQLite store, while a server may be using it. */
export async function backupCommand(args: readonly string[], env: Environment): Promise<void> {
  const given = readArguments({ command: 'backup', values: ['store'], file: true }, args);
  const { setting, url } = storeSetting(given.value('store'), env);
  const refusal = (reason: string) => storeRefused(setting, url, reason);
  refuseExisting(given.file);
  try {
    const store = parseStoreUrl(url);
    if (store.kind !== 'sqlite') {
      throw refusal('only an SQLite store has a file to back up; rostrum export takes any store.');
    }
    const part = `${given.file}.part`;
    await run(async ({ progress, signal }) => {
      // A backup is of one moment, and is not gone on with at another.
      await rm(part, { force: true });
      let [known, all] = [0, 0];
      await backupSqlite({
        path: store.path,
        to: part,
        onProgress(done, total) {
          signal.throwIfAborted();
          if (all === 0) progress.begin('pages', total);
          all = total;
          progress.advance(done - known);
          known = done;
        },
      });
      // Of so few that all went in one step, nothing was told.
      if (all > 0) {
        progress.advance(all - known);
        progress.end();
      }
      await keepPart(part, given.file);
    }, 'it begins anew');
  } catch (error) {
    const reason = reasonOf(error);
    throw reason === undefined ? error : refusal(reason);
  }
  const { size } = await stat(given.file);
  process.stdout.write(`Backed up ${redactStoreUrl(url)} to ${given.file}: ${size} bytes\n`);
}
