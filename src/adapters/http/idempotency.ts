import { createHash } from 'node:crypto';
import type { Idempotency } from '../../domain/claim.ts';
import { isTooDeep } from '../../domain/i-json.ts';
import { canonicalJson, type JsonObject } from '../../domain/json.ts';
import type { JsonBody } from './body-gate.ts';
import { unquoted } from './header-grammar.ts';

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

/** What a creation is known by to the store. */
export interface IdempotentRequest {
  readonly key: string;
  readonly caller: string;
  readonly path: string;
  readonly body: JsonBody;
}

/**
 * A key belongs to its caller and path. Digests, so that the store holds neither who asked nor
 * what, and never more than 64 characters of either.
 *
 * Equal JSON values are the same body. One that is nested too deep to be compared, and will be
 * refused, goes by its text.
 */
export function idempotencyOf({ key, caller, path, body }: IdempotentRequest): Idempotency {
  return {
    key: digest(JSON.stringify([caller, path, key])),
    fingerprint: digest(isTooDeep(body.value) ? body.raw : canonicalJson(body.value as JsonObject)),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
