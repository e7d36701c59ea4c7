import type { Context } from 'koa';
import { Problem } from '../problems/problem.ts';
import type { Response } from '../response.ts';

/** `Allow` of the server as a whole. */
export const allMethods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

const headers = ['Allow', 'GET, HEAD, OPTIONS'];

/**
 * Serves what can only be read: responds to OPTIONS, and refuses other methods.
 *
 * @throws Problem `method-not-allowed`
 */
export function readOnly<T>({ method }: Context, read: () => T): T | Response {
  if (method === 'GET' || method === 'HEAD') return read();
  if (method === 'OPTIONS') return { status: 204, headers };
  throw new Problem('method-not-allowed', `${method} is not allowed on this path.`, { headers });
}
