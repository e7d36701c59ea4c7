import type { IncomingHttpHeaders } from 'node:http';
import { maxIssues } from '../../../domain/issues.ts';
import type { Query } from '../exchange.ts';
import type { Parameter } from '../parameter.ts';
import { Problem, type ProblemEntry } from '../problems/problem.ts';
import { parseQuery } from './query.ts';

type Refused = Extract<ProblemEntry, { readonly parameter: string }>;

/** How many queries are kept, and of what length; a cursor is longer. */
const kept = { count: 100, length: 100 };

/** The query parameters that an endpoint takes. */
export class QueryTable {
  readonly #parameters: ReadonlyMap<string, Parameter>;
  /** Queries that were checked, by their text: many requests have one of a few, such as `limit=20`. */
  readonly #known = new Map<string, Query>();

  constructor(parameters: readonly Parameter[]) {
    this.#parameters = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  }

  /** @returns undefined for a query that is not well-formed */
  read(text: string): Query | undefined {
    return this.#known.get(text) ?? parseQuery(text);
  }

  /**
   * Refuses each parameter that the endpoint does not take, or not so often, or not with this value.
   *
   * @param query what {@link read} made of the text
   * @throws Problem `invalid-query`
   */
  check(query: Query | undefined, text: string): void {
    if (this.#known.has(text)) return;
    if (query === undefined) throw this.#refusal('The query is not percent-encoded UTF-8.', []);
    const errors: Refused[] = [];
    for (const [name, values] of query) {
      this.#checkOne(name, values, errors);
      if (errors.length >= maxIssues) break;
    }
    const [first] = errors;
    if (first === undefined) {
      this.#keep(query, text);
      return;
    }
    const one = sentenceOf(`query parameter "${first.parameter.slice(0, 64)}"`, first.message);
    const count = errors.length < maxIssues ? errors.length : `${maxIssues} or more`;
    const many = `${count} query parameters are not accepted.`;
    throw this.#refusal(errors.length === 1 ? one : many, errors);
  }

  #keep(query: Query, text: string): void {
    if (text.length > kept.length) return;
    if (this.#known.size === kept.count) this.#known.clear();
    this.#known.set(text, query);
  }

  #checkOne(name: string, values: readonly string[], errors: Refused[]): void {
    const parameter = this.#parameters.get(name);
    const add = (code: string, message: string) => errors.push({ parameter: name, code, message });
    if (parameter === undefined) {
      // Some clients write an array so.
      const single = name.replace(/\[\d*\]$/, '');
      const isArray = single !== name && (this.#parameters.get(single)?.atMost ?? 1) > 1;
      const hint = isArray ? ` Repeat "${single}" instead: ${single}=…&${single}=….` : '';
      add('unknown', `There is no such parameter here.${hint}`);
      return;
    }
    const { atMost = 1 } = parameter;
    if (values.length > atMost) {
      add('invalid', `Must not be given more than ${atMost === 1 ? 'once' : `${atMost} times`}.`);
      return;
    }
    for (const value of values) {
      const message = parameter.check?.(value);
      if (message !== undefined) add('invalid', message);
    }
  }

  #refusal(sentence: string, errors: readonly ProblemEntry[]): Problem {
    const allowed = [...this.#parameters.keys()];
    return new Problem('invalid-query', sentence, { errors, members: { allowed } });
  }
}

/** What is wrong with a parameter, as a sentence that names it. */
function sentenceOf(name: string, message: string): string {
  const [, unknown] = /^There is no such parameter here(.*)$/s.exec(message) ?? [];
  if (unknown !== undefined) return `There is no ${name} here${unknown}`;
  return `The ${name} ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** The headers that an endpoint reads. */
export class HeaderTable {
  readonly #parameters: readonly (readonly [key: string, parameter: Parameter])[];

  constructor(parameters: readonly Parameter[]) {
    this.#parameters = parameters.map((parameter) => [parameter.name.toLowerCase(), parameter]);
  }

  /** @throws Problem `invalid-header`, with every header that is malformed */
  check(headers: IncomingHttpHeaders): void {
    const errors: { header: string; code: string; message: string }[] = [];
    for (const [key, { name, check }] of this.#parameters) {
      const value = headers[key];
      const message = typeof value === 'string' ? check?.(value) : undefined;
      if (message !== undefined) errors.push({ header: name, code: 'invalid', message });
    }
    const [first] = errors;
    if (first === undefined) return;
    const one = sentenceOf(`header ${first.header}`, first.message);
    const sentence = errors.length === 1 ? one : `${errors.length} headers are malformed.`;
    throw new Problem('invalid-header', sentence, { errors });
  }
}
