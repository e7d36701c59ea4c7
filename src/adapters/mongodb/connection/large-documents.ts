import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes of BSON. To parse a larger document takes more than a millisecond. */
export const largeBytes = 64 * 1024;

/** How many turns of the event loop are left to others for each mebibyte that is parsed. */
const turns = 32;

/** Leaves turns of the event loop to others before a large document is parsed. */
export async function leaveTurns({ length }: Uint8Array): Promise<void> {
  if (length <= largeBytes) return;
  for (let left = (length / 1024 / 1024) * turns; left > 0; left--) await nextTurn();
}
