import { DomainError } from './errors.ts';

export interface Versioned {
  /** ASCII. Begins with the time; ids of one millisecond have no order. */
  readonly id: string;
  /** Starts at 1 and increases with every change. */
  readonly version: number;
}

/** Returns the next version of a record. */
export function change<R extends Versioned>(record: R, fields: Partial<NoInfer<R>>): R {
  return { ...record, ...fields, version: record.version + 1 };
}

/** The versions of a record that the caller accepts. Undefined accepts every version. */
export type Versions = readonly number[] | undefined;

export function checkVersion(record: Versioned, versions: Versions): void {
  if (versions?.includes(record.version) === false) throw new DomainError('version-mismatch');
}
