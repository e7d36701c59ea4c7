import { type FieldCode, Issues } from '../fields/issues.ts';
import { recordLimits } from '../fields/rules.ts';
import { isPlainObject, type Json, setMember } from './json.ts';
import { codePoints, isCleanText } from './text.ts';

/**
 * The most bytes of each part of a compact JSON text, with a comma or colon after it: `false,` (and `null,`, `{},`),
 * `-2.2250738585072014e-308,`, `"",` and `\u001f`.
 */
const maxBytes = { boolean: 6, number: 25, quotes: 3, character: 6 } as const;

/**
 * Reads values that came from outside as I-JSON (RFC 7493) within the limits of a record.
 *
 * Returns copies, so that nothing is shared with the caller. `undefined` members of objects count as
 * absent and `-0` becomes `0`, as in `JSON.stringify`.
 */
export class JsonReader {
  readonly issues = new Issues();
  readonly #path: (string | number)[] = [];
  #byteBound = 0;
  #values = 0;

  /** An upper bound of the bytes that all values read so far have as compact JSON in UTF-8. */
  get byteBound(): number {
    return this.#byteBound;
  }

  /** Returns the copy; parts with an issue can be missing from it. */
  read(value: unknown): Json | undefined {
    if (this.issues.isFull || !this.#countValue()) return undefined;
    switch (typeof value) {
      case 'boolean':
        this.#byteBound += maxBytes.boolean;
        return value;
      case 'string':
        return this.#text(value);
      case 'number':
        return this.#number(value);
      default:
        this.#byteBound += maxBytes.boolean;
        if (value === null) return null;
    }
    const isArray = Array.isArray(value);
    if (!isArray && !isPlainObject(value)) {
      this.#add('type', 'A value must be JSON.');
      return undefined;
    }
    if (this.#path.length >= recordLimits.depth) {
      this.#add(
        'too-deep',
        `A record must not be nested more than ${recordLimits.depth} levels deep.`,
      );
      return undefined;
    }
    if (isArray) return this.#array(value);
    const copy: Record<string, Json> = {};
    for (const key of Object.keys(value)) this.readMember(value, key, copy);
    return copy;
  }

  /** Reads one member of an object into another one. */
  readMember(
    from: Readonly<Record<string, unknown>>,
    key: string,
    into: Record<string, Json>,
  ): void {
    const value = from[key];
    if (value === undefined || this.issues.isFull || !this.#checkKey(key)) return;
    this.#path.push(key);
    const member = this.read(value);
    if (member !== undefined) setMember(into, key, member);
    this.#path.pop();
  }

  /** Returns false beyond the limit: the value is not read. */
  #countValue(): boolean {
    this.#values += 1;
    if (this.#values === recordLimits.values + 1) {
      const message = `A record must have at most ${recordLimits.values} values, at any depth.`;
      this.issues.add([], 'too-large', message);
    }
    return this.#values <= recordLimits.values;
  }

  #text(text: string): string | undefined {
    this.#byteBound += text.length * maxBytes.character + maxBytes.quotes;
    if (isCleanText(text)) return text;
    this.#add('invalid', 'A text must not contain NUL or half of a surrogate pair.');
    return undefined;
  }

  /** Rejects numbers that a double would round (RFC 7493, section 2.2). */
  #number(number: number): number | undefined {
    this.#byteBound += maxBytes.number;
    const isExact = Number.isInteger(number)
      ? Number.isSafeInteger(number)
      : Number.isFinite(number);
    if (isExact) return number === 0 ? 0 : number;
    const message = 'An integer must lie within ±(2^53 − 1), and a number must not overflow.';
    this.#add('number-range', message);
    return undefined;
  }

  #array(items: readonly unknown[]): readonly Json[] {
    const copy: Json[] = [];
    // By index: `map` would skip the holes of a sparse array.
    for (let i = 0; i < items.length && !this.issues.isFull; i++) {
      this.#path.push(i);
      const item = this.read(items[i]);
      if (item !== undefined) copy.push(item);
      this.#path.pop();
    }
    return copy;
  }

  /** Returns false for a key that is too long for a pointer: its value is not read. */
  #checkKey(key: string): boolean {
    this.#byteBound += key.length * maxBytes.character + maxBytes.quotes;
    // A code point is one or two units of UTF-16, so most keys need no count.
    if (key.length > recordLimits.keyLength && codePoints(key) > recordLimits.keyLength) {
      this.#add('key', `A key must have at most ${recordLimits.keyLength} characters.`);
      return false;
    }
    const fault = keyFault(key);
    if (fault !== undefined) this.issues.add([...this.#path, key], 'key', fault);
    return true;
  }

  #add(code: FieldCode, message: string): void {
    this.issues.add(this.#path, code, message);
  }
}

/** True if a record may have a field with this name. */
export function isFieldName(name: unknown): name is string {
  if (typeof name !== 'string' || codePoints(name) > recordLimits.keyLength) return false;
  return keyFault(name) === undefined;
}

function keyFault(key: string): string | undefined {
  if (key === '') return 'A key must not be empty.';
  if (key === '__proto__') return 'A key must not be "__proto__".';
  return isCleanText(key) ? undefined : 'A key must not contain NUL or half of a surrogate pair.';
}

/** True if objects and arrays are nested deeper than a record is allowed to be. */
export function isTooDeep(value: unknown, level = 1): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    level > recordLimits.depth || Object.values(value).some((part) => isTooDeep(part, level + 1))
  );
}
