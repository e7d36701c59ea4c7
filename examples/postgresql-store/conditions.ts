import type { Position, TimeSpan } from 'rostrum/ports';

/** What records have to meet, and the values that stand for `$1`, `$2` and so on. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #texts: string[] = [];

  get where(): string {
    return this.#texts.length === 0 ? '' : `where ${this.#texts.join(' and ')}`;
  }

  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  add(text: string): this {
    this.#texts.push(text);
    return this;
  }

  equal(column: string, text: string): this {
    return this.add(isClean(text) ? `${column} = ${this.bind(text)}` : 'false');
  }

  among(column: string, texts: readonly string[]): this {
    return this.add(`${column} = any(${this.bind(texts.filter(isClean))})`);
  }

  within(column: string, { from, before }: TimeSpan = {}): this {
    if (from !== undefined) this.add(`${column} >= ${this.bind(bound(from))}`);
    if (before !== undefined) this.add(`${column} < ${this.bind(bound(before))}`);
    return this;
  }

  /** A custom field that has just this value: in JSONB, a text contains no other text. */
  contains(name: string, value: string | number | boolean): this {
    if (typeof value === 'string' && !isClean(value)) return this.add('false');
    return this.add(`json::jsonb @> ${this.bind(JSON.stringify({ [name]: value }))}::jsonb`);
  }

  /** Those behind a position: the sort key null is the empty text here, and comes first. */
  behind(column: string, { key, id }: Position, direction: 'asc' | 'desc'): this {
    const isKeyOfRecords = key === null || (key !== '' && isClean(key));
    const values = isKeyOfRecords ? [key ?? '', bound(id)] : [bound(key || '\0'), ''];
    // No record is at a text that none can have, but one may be at the bound that stands for it.
    const isExact = isKeyOfRecords && isClean(id);
    const operator = direction === 'desc' ? '<' : isExact ? '>' : '>=';
    const [boundKey, boundId] = values.map((value) => this.bind(value));
    return this.add(`(${column}, id) ${operator} (${boundKey}, ${boundId})`);
  }
}

/** True for text that PostgreSQL takes, as all of a record is: no NUL, no half of a surrogate pair. */
function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/**
 * Where any text lies among those of records: what PostgreSQL does not take becomes the first
 * character behind it. No record's text is between the two.
 */
function bound(text: string): string {
  return text.replace(/[\0\p{Surrogate}].*/su, (rest) => (rest[0] === '\0' ? '\x01' : '\ue000'));
}
