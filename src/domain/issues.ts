/** What can be wrong with a field. Stable within v1. */
export type FieldCode =
  /** A required field is absent or null. */
  | 'required'
  /** Not of the field's JSON type, or not JSON. */
  | 'type'
  | 'too-short'
  | 'too-long'
  /** Of the right type and length, but not of the right form. */
  | 'invalid'
  /** It names a record that does not exist. */
  | 'unknown'
  /** Another record has it. */
  | 'taken'
  /** An id in the body that is not the record's. */
  | 'mismatch'
  /**
   * The key itself is invalid: empty, a lone surrogate, NUL, `__proto__`, or too long; of one that is too
   * long, the pointer is that of the object which has it.
   */
  | 'key'
  | 'too-deep'
  | 'too-large'
  | 'number-range';

/** One thing that is wrong, and where. */
export interface FieldIssue {
  /** JSON pointer (RFC 6901) into what the caller gave; `""` is the whole record. */
  readonly pointer: string;
  readonly code: FieldCode;
  /** A sentence for people. Free to change. */
  readonly message: string;
}

/** How many issues one error lists at most. */
export const maxIssues = 100;

/** How many characters the pointers of one error have together, about: a path may have a thousand. */
const maxPointers = 16 * 1024;

/** Collects issues, up to the most that one error lists. */
export class Issues {
  readonly #list: FieldIssue[] = [];
  readonly #pointers = new Set<string>();
  #length = 0;

  add(path: readonly (string | number)[], code: FieldCode, message: string): void {
    if (this.full) return;
    const pointer = jsonPointer(path);
    this.#pointers.add(pointer);
    this.#length += pointer.length;
    this.#list.push({ pointer, code, message });
  }

  /** True when this very path has an issue. */
  has(...path: readonly (string | number)[]): boolean {
    return this.#pointers.size > 0 && this.#pointers.has(jsonPointer(path));
  }

  get full(): boolean {
    return this.#list.length >= maxIssues || this.#length >= maxPointers;
  }

  get list(): readonly FieldIssue[] {
    return this.#list;
  }
}

/** A path of keys and indexes as a JSON pointer (RFC 6901, section 3). */
function jsonPointer(path: readonly (string | number)[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}
