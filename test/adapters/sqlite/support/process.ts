import { once } from 'node:events';
import { join } from 'node:path';
import { type Child, start } from '../../../support/process.ts';

const index = join(import.meta.dirname, '../../../../src/adapters/sqlite/index.ts');

/**
 * A process that opens a store on a file and keeps it open until it is killed; with what it says
 * first: that the store is open or that a migration begins, or the code of a refusal.
 */
export async function openElsewhere(
  path: string,
  first = '',
): Promise<{ child: Child; said: string }> {
  const program = `
    import { writeSync } from 'node:fs';
    import { openSqliteStore } from ${JSON.stringify(index)};
    const say = (text) => writeSync(1, text);
    ${first}
    try {
      openSqliteStore({ path: process.argv[1], logger: { info: () => say('migration') } });
      say('open');
    } catch (error) {
      say(error.code);
    }
    setInterval(() => {}, 1000);
  `;
  const child = start(process.execPath, ['--input-type=module', '-e', program, path]);
  const [text] = await once(child.stdout, 'data');
  return { child, said: String(text) };
}

/** Ends a process as a power cut would, as far as a process can tell. */
export async function killed(child: Child): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
