import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a command of Rostrum's program. Exits if it fails; with `--skip-invalid`, 2 says that it left records out. */
export function rostrum(...args: readonly string[]): void {
  // The program is beside the library, in the package and in a clone.
  const program = import.meta.resolve('rostrum').replace(/index\.(\w+)$/, 'main.$1');
  const { status } = spawnSync(process.execPath, [fileURLToPath(program), ...args], {
    stdio: 'inherit',
  });
  if (status === 2 && args.includes('--skip-invalid')) process.exitCode = 2;
  else if (status !== 0) process.exit(status ?? 1);
}
