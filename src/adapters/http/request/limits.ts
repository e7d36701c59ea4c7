import { recordLimits } from '../../../domain/rules.ts';

/**
 * What a response has besides what the client gave: id, times and the fallbacks of fields that it
 * left out. The longest comes to 160 bytes with the ids that are made here.
 */
const addedBytes = 1024;

/** Bytes of a body: the largest record as it is returned, so that what GET gave can be PUT back. */
export const bodyLimit = recordLimits.bytes + addedBytes;

/** The same for people. */
export const bodyLimitText = `${count(bodyLimit)} bytes: 1 MiB for the record and ${count(addedBytes)} bytes for what the server adds to it`;

/** How many characters of a request's target are taken: enough for every parameter there is. */
export const maxTargetLength = 12 * 1024;

function count(bytes: number): string {
  return bytes.toLocaleString('en-US');
}

/** A piece of a body costs memory and time however short it is, and counts for so many bytes at least. */
export const shortestPiece = 512;
