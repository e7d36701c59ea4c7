import { preconditionRequired, versionMismatch } from './errors.ts';
import type { Version } from './record.ts';

/** Versions, or `any`: whatever the record is at. */
export type Versions = readonly Version[] | 'any';

/** What must hold of a record's version for a change to be made. */
export interface Precondition {
  /** The change is made only at one of these. */
  readonly only?: Versions | undefined;
  /** The change is not made at any of these. */
  readonly except?: Versions | undefined;
  /** A change that does not say `only` is refused. */
  readonly required?: boolean | undefined;
}

/**
 * @throws RostrumError `precondition-required`, `version-mismatch`
 */
export function checkPrecondition(
  { only, except, required = false }: Precondition,
  version: Version,
): void {
  if (required && only === undefined) throw preconditionRequired();
  if (only !== undefined && !includes(only, version)) throw versionMismatch(version);
  if (except !== undefined && includes(except, version)) throw versionMismatch(version);
}

function includes(versions: Versions, version: Version): boolean {
  return versions === 'any' || versions.includes(version);
}
