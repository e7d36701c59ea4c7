import { RostrumError } from '../errors.ts';
import { checkOptions } from '../options.ts';
import type { Version } from './record.ts';

/** Versions, or `any` for every version. */
export type Versions = readonly Version[] | 'any';

/** A condition on a record's version; unless it holds, the change is not made. */
export interface Precondition {
  /** The change is made only at one of these. */
  readonly only?: Versions | undefined;
  /** The change is not made at any of these. */
  readonly except?: Versions | undefined;
  /** A change with neither `only` nor `except: 'any'` is rejected. */
  readonly required?: boolean | undefined;
}

/** @throws RostrumError `precondition-required`, `version-mismatch` */
export function checkPrecondition(
  { only, except, required = false }: Precondition,
  version: Version,
): void {
  // A request that can only create a record needs no version.
  const isMissing = only === undefined && except !== 'any';
  if (required && isMissing) throw new RostrumError('precondition-required', {});
  const excluded = except !== undefined && includes(except, version);
  if (excluded || (only !== undefined && !includes(only, version))) {
    throw new RostrumError('version-mismatch', { version });
  }
}

function includes(versions: Versions, version: Version): boolean {
  return versions === 'any' || versions.includes(version);
}

/** @throws TypeError for an option that is not a precondition and not in `others` */
export function checkPreconditionOptions(options: object, ...others: readonly string[]): void {
  const { only, except, required } = checkOptions<Precondition>(options, [
    'only',
    'except',
    'required',
    ...others,
  ]);
  for (const [name, versions] of Object.entries({ only, except })) {
    if (versions === undefined || versions === 'any') continue;
    if (Array.isArray(versions) && versions.every(Number.isSafeInteger)) continue;
    throw new TypeError(`The option "${name}" must be "any" or a list of versions.`);
  }
  if (required !== undefined && typeof required !== 'boolean') {
    throw new TypeError('The option "required" must be true or false.');
  }
}
