/** What can be wrong with a field. Stable within v1. */
export type FieldCode =
  /** A required field is absent or null. */
  | 'required'
  /** Not of the field's JSON type, or not JSON. */
  | 'type'
  | 'too-short'
  | 'too-long'
  /** The right type and length, but the wrong form. */
  | 'invalid'
  /** Names a record that does not exist. */
  | 'unknown'
  /** Another record has this value. */
  | 'taken'
  /** An id in the body that differs from the record's. */
  | 'mismatch'
  /**
   * The key itself is invalid: empty, a lone surrogate, NUL, `__proto__`, too long, or another spelling of a
   * known field. If it is too long, the pointer is that of its object.
   */
  | 'key'
  | 'too-deep'
  | 'too-large'
  | 'number-range';

/** An error in an input, and its place. */
export interface FieldIssue {
  /** JSON pointer (RFC 6901) into the input; `""` is the whole record. */
  readonly pointer: string;
  readonly code: FieldCode;
  /** A sentence for people. It can change. */
  readonly message: string;
}

export const maxIssues = 100;

/** Collects issues, up to the limit of one error. */
export class Issues {
  readonly #list: FieldIssue[] = [];
  readonly #pointers = new Set<string>();

  add(path: readonly (string | number)[], code: FieldCode, message: string): void {
    if (this.isFull) return;
    const pointer = jsonPointer(path);
    this.#pointers.add(pointer);
    this.#list.push({ pointer, code, message });
  }

  /** True if exactly this path has an issue. */
  has(...path: readonly (string | number)[]): boolean {
    return this.#pointers.size > 0 && this.#pointers.has(jsonPointer(path));
  }

  get isFull(): boolean {
    return this.#list.length >= maxIssues;
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
