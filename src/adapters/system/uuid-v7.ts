import type { IdGenerator } from '../../ports/id-generator.ts';

/** Random bytes are asked for in stocks: one by one they cost more than all else of an id. */
const stock = new Uint8Array(1024);
let used = stock.length;

/** Bytes of an id behind its time. */
const randomBytes = 10;

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of time, 74 random ones. Ids that are made
 * one after another lie close together in an index.
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
    const time = Date.now().toString(16).padStart(12, '0');
    let id = `${time.slice(0, 8)}-${time.slice(8)}-`;
    for (let i = 0; i < randomBytes; i++) {
      let byte = stock[first + i] as number;
      if (i === 0)
        byte = (byte & 0x0f) | 0x70; // The version.
      else if (i === 2) byte = (byte & 0x3f) | 0x80; // The variant.
      if (i === 2 || i === 4) id += '-';
      id += hex[byte];
    }
    return id;
  },
};
