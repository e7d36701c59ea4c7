import type { IdGenerator } from '../../ports/id-generator.ts';

/** Random bytes are drawn in pools: one by one, they would cost more than the rest of an id. */
const pool = new Uint8Array(1024);
let used = pool.length;

/** Bytes of an id after its time: version and counter, variant and random bits. */
const bytesBehindTime = 10;

/** The counter has 12 bits, and starts in its lower half. */
const counterEnd = 2 ** 12;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * Makes UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of time, a counter, 62 random bits. Each is
 * greater than the generator's previous ids (section 6.2, method 1), so that records of one
 * millisecond are listed in the order of their creation, and are adjacent in an index.
 *
 * Not `crypto.randomUUIDv7`, which Node 22 and browsers don't have.
 */
export function createUuidV7(now: () => number = Date.now): IdGenerator {
  let lastMs = 0;
  let time = '00000000-0000'; // In the form of ids; many ids share a millisecond.
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
      // If the counter overflows or the clock is set back, ids continue from the last time.
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
        id += hex[i === 2 ? (byte & 0x3f) | 0x80 : byte]; // The first byte contains the variant.
      }
      return id;
    },
  };
}

/** The generator of the process: two generators don't know each other's counters. */
export const uuidV7 = createUuidV7();
