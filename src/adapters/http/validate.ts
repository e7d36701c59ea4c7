import { maxIssues } from '../../domain/fields/issues.ts';
import type { Middleware } from './context.ts';
import type { Parameter } from './endpoint.ts';
import { Problem, type ProblemEntry } from './problems/problem.ts';
import { parseQuery } from './target.ts';

type QueryError = Extract<ProblemEntry, { readonly parameter: string }>;

/** Parses the query and checks it against the endpoint's parameters: 400 `invalid-query`. */
export function validateQuery(
  parameters: readonly Parameter[] = [],
  hintFor: (name: string) => string = () => '',
): Middleware {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const allowed = [...known.keys()];
  const invalidQuery = (sentence: string, errors: readonly ProblemEntry[]) =>
    new Problem('invalid-query', sentence, { errors, members: { allowed } });

  return ({ state: { rostrum } }, next) => {
    const text = rostrum.target.query;
    if (text === '') return next();
    const query = parseQuery(text);
    if (query === undefined) throw invalidQuery('Malformed percent-encoding in the query.', []);
    const errors: QueryError[] = [];
    for (const [name, values] of query) {
      errors.push(...errorsOf(name, values, known, hintFor));
      if (errors.length >= maxIssues) break;
    }
    if (errors.length > 0) throw invalidQuery(sentencesOf(errors), errors);
    rostrum.query = query;
    return next();
  };
}

/** The errors whose sentences a message has; the others are only in `errors`. */
const maxSentences = 10;

function sentencesOf(errors: readonly QueryError[]): string {
  const sentences = errors.slice(0, maxSentences).map(({ parameter, code, message }) => {
    const name = `query parameter "${parameter.slice(0, 64)}"`;
    return code === 'unknown'
      ? `Unknown ${name}.${message.slice(unknownParameter.length)}`
      : sentenceOf(name, message);
  });
  const others = errors.length > maxSentences ? ' More errors are in "errors".' : '';
  return `${sentences.join(' ')}${others}`;
}

function errorsOf(
  name: string,
  values: readonly string[],
  known: ReadonlyMap<string, Parameter>,
  hintFor: (name: string) => string,
): readonly QueryError[] {
  const error = (code: string, message: string) => ({ parameter: name, code, message });
  const parameter = known.get(name);
  if (parameter === undefined) {
    return [error('unknown', `${unknownParameter} ${hintFor(name)}`.trimEnd())];
  }
  const { atMost = 1 } = parameter;
  if (values.length > atMost) {
    const times = atMost === 1 ? 'once' : `${atMost} times`;
    return [error('invalid', `Must not be given more than ${times}.`)];
  }
  return values.flatMap((value) => {
    const message = parameter.check?.(value);
    return message === undefined ? [] : [error('invalid', message)];
  });
}

const unknownParameter = 'Unknown parameter.';

/** Turns a message about a parameter or header into a sentence that names it. */
function sentenceOf(name: string, message: string): string {
  return `The ${name} ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** Checks the headers that the endpoint reads: 400 `invalid-header`. */
export function validateHeaders(parameters: readonly Parameter[] = []): Middleware | undefined {
  const known = parameters.flatMap(({ name, check }) =>
    check === undefined ? [] : [{ key: name.toLowerCase(), name, check }],
  );
  if (known.length === 0) return undefined;
  return ({ headers }, next) => {
    const errors: { header: string; code: string; message: string }[] = [];
    for (const { key, name, check } of known) {
      const value = headers[key];
      const message = typeof value === 'string' ? check(value) : undefined;
      if (message !== undefined) errors.push({ header: name, code: 'invalid', message });
    }
    const [first] = errors;
    if (first === undefined) return next();
    const one = sentenceOf(`header ${first.header}`, first.message);
    const sentence = errors.length === 1 ? one : `${errors.length} headers are malformed.`;
    throw new Problem('invalid-header', sentence, { errors });
  };
}

/** What a parameter accepts: a schema, and the check that says the same. */
type Values = Pick<Parameter, 'schema' | 'example' | 'check'>;

/** Accepts one of a fixed set of strings. */
export function oneOf(values: readonly string[], fallback?: string): Values {
  const few = values.map((value) => `"${value}"`).join(' or ');
  const sentence = `Must be ${values.length < 3 ? few : `one of ${values.join(', ')}`}.`;
  return {
    schema: {
      type: 'string',
      enum: values,
      ...(fallback !== undefined && { default: fallback }),
    },
    example: values[0] ?? '',
    check: (value) => (values.includes(value) ? undefined : sentence),
  };
}

/** Accepts an integer within bounds, without leading zeros or a plus sign. */
export function integer(minimum: number, maximum: number, fallback: number): Values {
  return {
    schema: { type: 'integer', format: 'int32', minimum, maximum, default: fallback },
    example: fallback,
    check(value) {
      const number = /^(?:0|-?[1-9]\d{0,14})$/.test(value) ? Number(value) : Number.NaN;
      const fits = number >= minimum && number <= maximum;
      return fits ? undefined : `Must be an integer from ${minimum} to ${maximum}.`;
    },
  };
}
