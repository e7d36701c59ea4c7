import { setTimeout as pause } from 'node:timers/promises';
import { isDriverError, resultCode, translated } from './errors.ts';

/** For how long a read waits, and how often it tries again, while a process recovers the log. */
const [recoveryMs, retryMs] = [2000, 5];

/** A read changes nothing, whatever becomes of it. */
export async function reading<T>(read: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const isBusy = isDriverError(error, resultCode.busy);
      if (!isBusy || performance.now() - start > recoveryMs) throw translated(error, 'none');
    }
    await pause(retryMs);
  }
}
