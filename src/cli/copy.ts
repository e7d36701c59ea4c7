import { resolve } from 'node:path';
import { parseStoreUrl, redactStoreUrl } from '../adapters/inversify/index.ts';
import { withStore } from './open-side.ts';
import { readArguments } from './read-arguments.ts';
import { SettingError } from './setting-error.ts';
import { copyRecords } from './transfer/copy-records.ts';
import { run } from './transfer/run.ts';
import { storeSource } from './transfer/source.ts';
import { tallyText } from './transfer/tally.ts';

/** `rostrum copy`: makes a store hold what another one holds. */
export async function copyCommand(args: readonly string[]): Promise<void> {
  const wanted = { command: 'copy', values: ['from', 'to'], switches: ['overwrite'] };
  const given = readArguments(wanted, args);
  const [from, to] = [urlOf(given.value('from'), 'from'), urlOf(given.value('to'), 'to')];
  const overwrite = given.isOn('overwrite');
  if (isSame(from, to)) {
    throw new SettingError(`--to is "${redactStoreUrl(to)}", the very store that --from names.`);
  }
  const tally = await run(({ progress, signal }) =>
    withStore({ setting: '--from', url: from, isSource: true }, (source) =>
      withStore({ setting: '--to', url: to, isSource: false }, (target) =>
        copyRecords(storeSource(source, signal), target, { overwrite, progress, signal }),
      ),
    ),
  );
  process.stdout.write(
    `Copied, and equal on both sides: ${tallyText(tally)}\n` +
      `  from ${redactStoreUrl(from)}\n  to   ${redactStoreUrl(to)}\n`,
  );
}

function urlOf(url: string | undefined, flag: string): string {
  if (url) return url;
  throw new SettingError(`--${flag} is missing: rostrum copy --help tells more.`);
}

function isSame(from: string, to: string): boolean {
  if (from === to) return true;
  const [a, b] = [from, to].map((url) => {
    const isSqlite = url.startsWith('sqlite:') && !url.startsWith('sqlite://');
    const parsed = isSqlite && url !== 'sqlite:' ? parseStoreUrl(url) : undefined;
    return parsed?.kind === 'sqlite' ? resolve(parsed.path) : undefined;
  });
  return a !== undefined && a === b;
}
