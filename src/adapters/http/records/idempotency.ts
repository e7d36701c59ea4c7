import { unquoted } from '../headers/grammar.ts';

/**
 * `Idempotency-Key`, bare or as a string of structured fields (RFC 8941, section 3.3.3), as the
 * source of a regular expression.
 */
export const keyPattern = String.raw`^(?:"(?:[!#-[\]-~]|\\["\\]){1,255}"|[!#-~][!-~]{0,254})$`;
const keyForm = new RegExp(keyPattern);

/**
 * Reads `Idempotency-Key`; `"abc"` and `abc` are one key.
 *
 * @returns undefined when it is malformed
 */
export function parseIdempotencyKey(header: string): string | undefined {
  return keyForm.test(header) ? unquoted(header) : undefined;
}
