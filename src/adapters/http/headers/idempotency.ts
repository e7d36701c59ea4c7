/**
 * The pattern of `Idempotency-Key`: bare, or a string of structured fields (RFC 8941, section 3.3.3).
 */
export const keyPattern = String.raw`^(?:"(?:[!#-[\]-~]|\\["\\]){1,255}"|[!#-~][!-~]{0,254})$`;
const keyForm = new RegExp(keyPattern);

/** Parses `Idempotency-Key`, so that `"abc"` and `abc` are one key. Returns undefined if it is malformed. */
export function parseIdempotencyKey(header: string): string | undefined {
  if (!keyForm.test(header)) return undefined;
  return header.startsWith('"') ? header.slice(1, -1).replace(/\\(.)/g, '$1') : header;
}
