import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const index = join(import.meta.dirname, '../../../../src/adapters/sqlite/index.ts');

/**
 * A process that opens a store on a file and keeps it open until it is killed; or that says why
 * it could not.
 */
export async function openElsewhere(path: string): Promise<{ child: ChildProcess; said: string }> {
  const program = `
    import { openSqliteStore } from ${JSON.stringify(index)};
    try {
      openSqliteStore({ path: process.argv[1] });
      console.log('open');
    } catch (error) {
      console.log(error.code);
    }
    setInterval(() => {}, 1000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return { child, said: String(line).trim() };
}

/** Ends a process as a power cut would, as far as a process can tell. */
export async function killed(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
