import type { IdGenerator } from '../../ports/id-generator.ts';

/** Random bytes are asked for in stocks: one by one they cost more than all else of an id. */
const stock = new Uint8Array(1024);
let used = stock.length;

/** Bytes of an id behind its time. */
const randomBytes = 10;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The time of the last id, and its place among the ids of that time. */
let lastMs = 0;
let place = 0;
const places = 2 ** 12;

/**
 * UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of time, 12 that count, 62 random ones. Each
 * is greater than those that this process made before (section 6.2, method 1), so that records of
 * one millisecond are listed in the order in which they were made, and lie together in an index.
 *
 * Our own, and not `crypto.randomUUIDv7`, because Node 22 and browsers have none.
 */
export const uuidV7: IdGenerator = {
  next() {
    if (used + randomBytes > stock.length) {
      crypto.getRandomValues(stock);
      used = 0;
    }
    const first = used;
    used += randomBytes;
    // The count begins in its lower half. One that is full, or a clock that is set back, goes on
    // from the last time.
    const now = Date.now();
    place += 1;
    if (now > lastMs || place === places) {
      lastMs = now > lastMs ? now : lastMs + 1;
      place = (((stock[first] as number) & 0x07) << 8) | (stock[first + 1] as number);
    }
    const time = lastMs.toString(16).padStart(12, '0');
    let id = `${time.slice(0, 8)}-${time.slice(8)}-7${place.toString(16).padStart(3, '0')}`;
    for (let i = 2; i < randomBytes; i++) {
      const byte = stock[first + i] as number;
      if (i === 2 || i === 4) id += '-';
      id += hex[i === 2 ? (byte & 0x3f) | 0x80 : byte]; // The first one begins with the variant.
    }
    return id;
  },
};
