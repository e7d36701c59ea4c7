import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderParameter, QueryParameter } from './endpoint.ts';
import { Problem, type ProblemEntry } from './problems.ts';
import { parseQuery, type Query } from './query.ts';

/**
 * Reads a query and refuses each parameter that the endpoint does not take, or not so often, or
 * not with this value.
 *
 * @throws Problem `invalid-query`
 */
export function checkQuery(text: string, parameters: readonly QueryParameter[]): Query {
  const query = parseQuery(text);
  if (query === undefined) {
    throw invalidQuery('The query is not percent-encoded UTF-8.', [], parameters);
  }
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const errors = [...query].flatMap(([name, values]) =>
    complaints(values, known.get(name)).map((complaint) => ({
      parameter: name,
      ...complaint,
    })),
  );
  const [first] = errors;
  if (first === undefined) return query;
  const sentence =
    errors.length === 1
      ? `The query parameter "${first.parameter.slice(0, 64)}": ${first.message}`
      : `${errors.length} query parameters are not accepted.`;
  throw invalidQuery(sentence, errors, parameters);
}

type Complaint = Pick<ProblemEntry, 'code' | 'message'>;

function complaints(
  values: readonly string[],
  parameter: QueryParameter | undefined,
): readonly Complaint[] {
  if (parameter === undefined) {
    return [{ code: 'unknown', message: 'There is no such parameter here.' }];
  }
  const { atMost = 1 } = parameter;
  if (values.length > atMost) {
    const times = atMost === 1 ? 'once' : `${atMost} times`;
    return [{ code: 'invalid', message: `Must not be given more than ${times}.` }];
  }
  return values.flatMap((value) => {
    const message = parameter.check?.(value);
    return message === undefined ? [] : [{ code: 'invalid', message }];
  });
}

function invalidQuery(
  sentence: string,
  errors: readonly ProblemEntry[],
  parameters: readonly QueryParameter[],
): Problem {
  const allowed = parameters.map(({ name }) => name);
  return new Problem('invalid-query', sentence, { errors, members: { allowed } });
}

/** @throws Problem `invalid-header`, with every header that is malformed */
export function checkHeaders(
  headers: IncomingHttpHeaders,
  parameters: readonly HeaderParameter[],
): void {
  const errors = parameters.flatMap(({ name, check }) => {
    const value = headers[name.toLowerCase()];
    const message = typeof value === 'string' ? check?.(value) : undefined;
    return message === undefined ? [] : [{ header: name, code: 'invalid', message }];
  });
  const [first] = errors;
  if (first === undefined) return;
  const sentence =
    errors.length === 1
      ? `The header ${first.header}: ${first.message}`
      : `${errors.length} headers are malformed.`;
  throw new Problem('invalid-header', sentence, { errors });
}
