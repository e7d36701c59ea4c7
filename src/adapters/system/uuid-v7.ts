import { randomBytes } from 'node:crypto';
import type { IdGenerator } from '../../ports/id-generator.ts';

/**
 * UUIDs of version 7 (RFC 9562, section 5.7): 48 bits of time, 74 random ones. Ids that are made
 * one after another lie close together in an index.
 *
 * Our own, and not `crypto.randomUUIDv7`, because Node 22 has none.
 */
export const uuidV7: IdGenerator = {
  next() {
    const bytes = randomBytes(16);
    bytes.writeUIntBE(Date.now(), 0, 6);
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return [
      hex.slice(0, 8),
      hex.slice(8, 12),
      hex.slice(12, 16),
      hex.slice(16, 20),
      hex.slice(20),
    ].join('-');
  },
};
