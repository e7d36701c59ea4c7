import { isRostrumError } from '../domain/errors.ts';
import { redactStoreUrl, StoreUrlError } from '../settings/store-url.ts';

/** A command cannot do what it was asked. The message is one sentence that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** A store, and the flag or variable that names it. */
export interface StoreSetting {
  readonly setting: string;
  readonly url: string;
}

/** The sentence about a store that cannot be used, without its password. */
export function storeFailure({ setting, url }: StoreSetting, reason: string): Failure {
  return new Failure(`${setting} is "${redactStoreUrl(url)}": ${reason}`);
}

/** Explains an error of opening a store; returns an unexpected error as it is. */
export function explainOpening(error: unknown, store: StoreSetting): unknown {
  const isUnavailable = isRostrumError(error, 'store-unavailable');
  const refusal = isUnavailable ? error.cause : error;
  // Only a refusal has a sentence for people; other causes have the driver's words.
  if (refusal instanceof Error && isRefusal(refusal)) return storeFailure(store, refusal.message);
  return isUnavailable ? storeFailure(store, 'it cannot be reached.') : error;
}

function isRefusal(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return error instanceof StoreUrlError || code.startsWith('store-');
}
