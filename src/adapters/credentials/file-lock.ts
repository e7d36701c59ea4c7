import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CredentialsError } from './judged.ts';

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
  const isOurs = (): boolean => {
    try {
      return readFileSync(lock, 'utf8') === owner;
    } catch {
      return false;
    }
  };
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
    if (Date.now() - made > staleMs) discard(lock, `${lock}.${owner}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
}

/** Removes a lock that was left behind: by renaming it, so that one command alone does. */
function discard(lock: string, name: string): void {
  try {
    renameSync(lock, name);
    rmSync(name);
  } catch {
    // Another command was first.
  }
}
