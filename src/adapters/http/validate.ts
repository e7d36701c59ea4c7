import { maxIssues } from '../../domain/fields/issues.ts';
import type { Middleware } from './context.ts';
import type { Parameter } from './endpoint.ts';
import { Problem } from './problems/problem.ts';
import { parseQuery } from './target.ts';

/** Parses the query and checks it against the endpoint's parameters: 400 `invalid-query`. */
export function validateQuery(parameters: readonly Parameter[] = []): Middleware {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const members = { allowed: [...known.keys()] };

  const messagesOf = (name: string, values: readonly string[]): readonly string[] => {
    const parameter = known.get(name);
    if (parameter === undefined) return ['Is unknown.'];
    const { maxCount = 1 } = parameter;
    const times = maxCount === 1 ? 'once' : `${maxCount} times`;
    if (values.length > maxCount) return [`Must not be given more than ${times}.`];
    return values.flatMap((value) => parameter.check?.(value) ?? []);
  };
  const errorsOf = (name: string, values: readonly string[]) => {
    const code = known.has(name) ? 'invalid' : 'unknown';
    return messagesOf(name, values).map((message) => ({ parameter: name, code, message }));
  };

  return ({ state: { rostrum } }, next) => {
    const text = rostrum.target.query;
    if (text === '') return next();
    const query = parseQuery(text);
    if (query === undefined) {
      throw new Problem('invalid-query', 'Malformed percent-encoding in the query.', { members });
    }
    const all = query.entries().flatMap(([name, values]) => errorsOf(name, values));
    const errors = all.take(maxIssues).toArray();
    const [first] = errors;
    if (first !== undefined) {
      const sentence = sentenceOf(`query parameter "${first.parameter}"`, first, errors.length);
      throw new Problem('invalid-query', sentence, { errors, members });
    }
    rostrum.query = query;
    return next();
  };
}

/** Checks the headers that the endpoint reads: 400 `invalid-header`. */
export function validateHeaders(parameters: readonly Parameter[] = []): Middleware {
  return ({ headers }, next) => {
    const errors: { header: string; code: string; message: string }[] = [];
    for (const { name, check } of parameters) {
      const value = headers[name.toLowerCase()];
      const message = typeof value === 'string' ? check?.(value) : undefined;
      if (message !== undefined) errors.push({ header: name, code: 'invalid', message });
    }
    const [first] = errors;
    if (first === undefined) return next();
    const sentence = sentenceOf(`header ${first.header}`, first, errors.length);
    throw new Problem('invalid-header', sentence, { errors });
  };
}

/** Turns the first message into a sentence that names its parameter or header. */
function sentenceOf(name: string, { message }: { message: string }, count: number): string {
  const others = count > 1 ? ' More errors are in "errors".' : '';
  return `The ${name} ${message.charAt(0).toLowerCase()}${message.slice(1)}${others}`;
}
