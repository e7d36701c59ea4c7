import type { IdGenerator } from '../../ports/id-generator.ts';

/** Random bytes are asked for in pools: one by one they cost more than all else of an id. */
const pool = new Uint8Array(1024);
let used = pool.length;

/** Bytes of an id behind its time: the version and a counter, the variant and what is random. */
const bytesBehindTime = 10;

/** The counter has 12 bits, and starts in its lower half. */
const counterEnd = 2 ** 12;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Makes UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of time, a counter, 62 random bits. Each is
 * greater than those that this generator made before (section 6.2, method 1), so that records of one
 * millisecond are listed in the order in which they were made, and lie together in an index.
 *
 * Our own, and not `crypto.randomUUIDv7`, because Node 22 and browsers have none.
 */
export function createUuidV7(now: () => number = Date.now): IdGenerator {
  let lastMs = 0;
  let time = '00000000-0000'; // As ids have it: many are of one millisecond.
  let counter = 0;
  return {
    next() {
      if (used + bytesBehindTime > pool.length) {
        crypto.getRandomValues(pool);
        used = 0;
      }
      const first = used;
      used += bytesBehindTime;
      const ms = now();
      counter += 1;
      // When the counter overflows, or the clock is set back, ids go on from the last time.
      if (ms > lastMs || counter === counterEnd) {
        lastMs = ms > lastMs ? ms : lastMs + 1;
        const digits = lastMs.toString(16).padStart(12, '0');
        time = `${digits.slice(0, 8)}-${digits.slice(8)}`;
        counter = (((pool[first] as number) & 0x07) << 8) | (pool[first + 1] as number);
      }
      let id = `${time}-7${counter.toString(16).padStart(3, '0')}`;
      for (let i = 2; i < bytesBehindTime; i++) {
        const byte = pool[first + i] as number;
        if (i === 2 || i === 4) id += '-';
        id += hex[i === 2 ? (byte & 0x3f) | 0x80 : byte]; // The first one begins with the variant.
      }
      return id;
    },
  };
}

/** The generator of a process: two of them do not know of each other's counters. */
export const uuidV7 = createUuidV7();
