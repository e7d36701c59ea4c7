import type { Position, PostFilter, TimeSpan, UserFilter } from 'rostrum/ports';
import { emailKey, emailPrefixKey, prefixSpan, textKey } from 'rostrum/ports';

export type Filter = UserFilter & PostFilter;

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

  matching(filter: Filter): this {
    const { ids, authorId } = filter;
    if (ids !== undefined) this.#add(`id = any(${this.bind(ids.filter(isClean))})`);
    for (const by of ['createdAt', 'updatedAt', 'publishedAt'] as const) {
      this.#within(`"${by}"`, filter[by]);
    }
    for (const by of ['name', 'email', 'title'] as const) {
      const { [by]: text, [`${by}StartsWith` as const]: start } = filter;
      const [keyOf, prefixKeyOf] = by === 'email' ? [emailKey, emailPrefixKey] : [textKey, textKey];
      if (text !== undefined) this.equal(by, keyOf(text));
      if (text !== undefined && by !== 'email') this.contains(by, text); // To the letter.
      // No key begins with NUL.
      if (start !== undefined) this.#within(by, prefixSpan(prefixKeyOf(start) ?? '\0'));
    }
    if (authorId !== undefined) this.equal('"authorId"', authorId);
    return this;
  }

  equal(column: string, text: string | null): this {
    if (text === null) return this.#add(`${column} is null`);
    return this.#add(isClean(text) ? `${column} = ${this.bind(text)}` : 'false');
  }

  /** A field that is just this: in JSONB, a text contains no other text, and a list no text. */
  contains(name: string, value: unknown): this {
    if (typeof value === 'string' && !isClean(value)) return this.#add('false');
    return this.#add(`json::jsonb @> ${this.bind(JSON.stringify({ [name]: value }))}`);
  }

  /** Those behind a position. The sort key null is the empty text here, which no record has. */
  behind(column: string, { key, id }: Position, direction: 'asc' | 'desc'): this {
    const isKey = key === null || (key !== '' && isClean(key));
    const at = isKey ? [key ?? '', bound(id)] : [bound(key || '\0'), ''];
    // Nothing is at a text that no record can have, but something may be at its bound.
    const operator = direction === 'desc' ? '<' : isKey && isClean(id) ? '>' : '>=';
    return this.#add(`(${column}, id) ${operator} (${at.map((text) => this.bind(text))})`);
  }

  #within(column: string, span: TimeSpan | null = {}): void {
    if (span === null) this.equal(column, null);
    if (span?.from !== undefined) this.#add(`${column} >= ${this.bind(bound(span.from))}`);
    if (span?.before !== undefined) this.#add(`${column} < ${this.bind(bound(span.before))}`);
  }

  #add(text: string): this {
    this.#texts.push(text);
    return this;
  }
}

/** True for text that PostgreSQL takes, as all of a record is: no NUL, no half of a surrogate pair. */
function isClean(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** What stands for any text among those of records: none of theirs is between the two. */
function bound(text: string): string {
  return text.replace(/[\0\p{Surrogate}].*/su, (rest) => (rest[0] === '\0' ? '\x01' : '\ue000'));
}
