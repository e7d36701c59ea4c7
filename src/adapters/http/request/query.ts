import type { Query } from '../exchange.ts';
import { decodePercent } from './target.ts';

/**
 * Reads a query as `application/x-www-form-urlencoded`, as every client writes it: `+` is a space.
 *
 * @returns undefined when it is not well-formed: a `%` that begins no byte, bytes that are not
 * UTF-8, characters that have to be encoded
 */
export function parseQuery(text: string): Query | undefined {
  const query = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const mark = pair.indexOf('=');
    const name = decode(mark < 0 ? pair : pair.slice(0, mark));
    const value = decode(mark < 0 ? '' : pair.slice(mark + 1));
    if (name === undefined || value === undefined) return undefined;
    const values = query.get(name);
    if (values === undefined) query.set(name, [value]);
    else values.push(value);
  }
  return query;
}

/** The query as text again, without the parameters of one name. */
export function formatQuery(query: Query, without: string): string {
  const pairs: string[] = [];
  for (const [name, values] of query) {
    if (name === without) continue;
    const key = encodeURIComponent(name);
    for (const value of values) pairs.push(`${key}=${encodeURIComponent(value)}`);
  }
  return pairs.join('&');
}

/** What needs no decoding, as most of a query does not. */
const plain = /^[\w.~-]*$/;

function decode(text: string): string | undefined {
  if (plain.test(text)) return text;
  return decodePercent(text.replaceAll('+', '%20'));
}
