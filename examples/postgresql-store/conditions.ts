import type { Condition, Id, Position, QueryOrder } from 'rostrum/ports';
import { declaredExpression, sortKeys } from './schema.ts';

/** The conditions of a statement, and the values for `$1`, `$2` and so on. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #texts = ['json is not null'];

  get where(): string {
    return `where ${this.#texts.join(' and ')}`;
  }

  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  add(...conditions: readonly Condition[]): this {
    this.#texts.push(...conditions.map((condition) => this.#sql(condition)));
    return this;
  }

  /** Matches the records after a position. */
  after(order: QueryOrder, { key, id }: Position): this {
    const keys = sortKeys(order);
    const none = order.declaredType === 'number' ? 0 : '';
    const values = keys.length === 1 ? [key, id] : [key !== null, key ?? none, id];
    const bound = values.map((value) => this.bind(value));
    const operator = order.direction === 'asc' ? '>' : '<';
    this.#texts.push(`(${keys.join(', ')}, id) ${operator} (${bound.join(', ')})`);
    return this;
  }

  afterId(id: Id): this {
    this.#texts.push(`id > ${this.bind(id)}`);
    return this;
  }

  #sql(condition: Condition): string {
    const { field, declaredType, op } = condition;
    if (op === 'isNull') return `"${field}" is null`;
    if (op === 'in') return `"${field}" = any(${this.bind([...condition.value])})`;
    if (op === 'has' || (declaredType && op === 'eq')) {
      // An array contains the elements of another one. Values that are not arrays have to be equal.
      const value = op === 'has' ? [condition.value] : condition.value;
      return `json::jsonb @> ${this.bind(JSON.stringify({ [field]: value }))}`;
    }
    const operator = { eq: '=', from: '>=', before: '<' }[op];
    const left = declaredType ? declaredExpression(field, declaredType) : `"${field}"`;
    return `${left} ${operator} ${this.bind(condition.value)}`;
  }
}
