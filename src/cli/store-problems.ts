import { StoreUrlError } from '../adapters/inversify/index.ts';
import { isRostrumError } from '../domain/errors.ts';

/** Why a store could not be opened, for a person; undefined for an error of another kind. */
export function reasonOf(error: unknown): string | undefined {
  if (isRostrumError(error, 'store-unavailable')) {
    const cause = error.cause instanceof Error ? error.cause : undefined;
    // What refuses a whole store has a sentence of its own; other causes are the driver's words.
    return cause && isRefusal(cause) ? cause.message : 'it cannot be reached.';
  }
  return error instanceof Error && isRefusal(error) ? error.message : undefined;
}

function isRefusal(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return error instanceof StoreUrlError || /^(?:store|mongodb)-/.test(code);
}
