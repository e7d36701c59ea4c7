import type { Condition, Id, Position, QueryOrder } from 'rostrum/ports';
import { expressionOf, sortKeys } from './schema.ts';

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
    const value = expressionOf(condition);
    if (op === 'isNull') return `${value} is null`;
    if (op === 'in') return `${value} = any(${this.bind([...condition.value])})`;
    if (op === 'has' || (declaredType && op === 'eq')) {
      // The index over all fields finds objects by their members, and arrays by their elements.
      const part = op === 'has' ? [condition.value] : condition.value;
      return `json::jsonb @> ${this.bind(JSON.stringify({ [field]: part }))}`;
    }
    const operator = { eq: '=', from: '>=', before: '<' }[op];
    return `${value} ${operator} ${this.bind(condition.value)}`;
  }
}
