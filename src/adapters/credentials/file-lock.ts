import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CredentialsError } from './errors.ts';

/** How long a command waits for another one, and when a lock counts as left by one that died. */
const [waitMs, staleMs] = [15_000, 10_000];

/**
 * Holds `FILE.lock` while `work` runs, so that commands that change a file run one after another.
 *
 * @param work is given a check to call right before its last step: it throws when the lock was lost
 * @throws CredentialsError when the lock does not come free in 15 s
 */
export function withLock<T>(file: string, work: (checkLock: () => void) => T): T {
  const lock = `${file}.lock`;
  const owner = randomUUID();
  const isOurs = () => existsSync(lock) && readFileSync(lock, 'utf8') === owner;
  take(lock, owner);
  try {
    return work(() => {
      if (!isOurs()) throw new CredentialsError(`Another command took over ${lock}: run it again.`);
    });
  } finally {
    if (isOurs()) rmSync(lock, { force: true });
  }
}

function take(lock: string, owner: string): void {
  for (const end = performance.now() + waitMs; ; ) {
    try {
      writeFileSync(lock, owner, { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (performance.now() > end) {
      throw new CredentialsError(`The file ${lock} is there: another command changes the keys.`);
    }
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // It may be the new one of a command that removed the stale one first: that command finds it lost.
    if (Date.now() - made > staleMs) rmSync(lock, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}
