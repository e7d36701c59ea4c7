import { isRostrumError } from '../../../../src/domain/errors.ts';

/** True when no rule refuses it. */
export function isAllowed(decide: () => unknown): boolean {
  try {
    decide();
    return true;
  } catch (error) {
    if (isRostrumError(error, 'invalid-record')) return false;
    throw error;
  }
}
