import { expect } from 'chai';
import type { JsonObject, Precondition, TimeSpan } from '../../src/index.ts';
import type { Answer } from '../adapters/http/support/answer.ts';
import { callsTo, expectProblem } from '../adapters/http/support/api.ts';
import type { Calls, ListCall, Outcome, Page, Resource } from './calls.ts';

/** Makes the calls over HTTP, with the caller in `X-Caller`. */
export function httpCalls(base: string): Calls {
  const { send } = callsTo(base);

  async function call(method: string, path: string, headers: Headers, body?: JsonObject) {
    const response = await send(method, path, headers, body);
    return response.status >= 400 ? failure(response) : recordOf(response);
  }

  async function get(resource: Resource, id: string): Promise<Outcome> {
    return call('GET', `/${resource}/${id}`, {});
  }

  return {
    get,

    async create(resource, input, { idempotencyKey, caller }) {
      const headers = {
        ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        ...(caller && { 'X-Caller': caller }),
      };
      const response = await send('POST', `/${resource}`, headers, input);
      if (response.status >= 400) return failure(response);
      const replayed = response.headers.get('Idempotency-Replayed') === 'true';
      return { ...recordOf(response), replayed };
    },

    async change(how, resource, id, input, precondition) {
      const headers = conditional(precondition);
      const path = `/${resource}/${id}`;
      if (how !== 'update') return call(how === 'patch' ? 'PATCH' : 'PUT', path, headers, input);
      const current = await get(resource, id);
      if (!('record' in current)) return current;
      return call('PUT', path, headers, { ...current.record, ...input });
    },

    async delete(resource, id, { posts, ...precondition }) {
      // `refuse` is the default, and has no query parameter.
      const query = posts === undefined || posts === 'refuse' ? '' : `?posts=${posts}`;
      const headers = conditional(precondition);
      const response = await send('DELETE', `/${resource}/${id}${query}`, headers);
      if (response.status >= 400) return failure(response);
      expect(response.body).to.deep.equal({ deleted: true });
      return { deleted: true };
    },

    async list(resource, listCall) {
      const query = queryOf(listCall);
      const pages: Page[] = [];
      for (let next: string | null = ''; next !== null; ) {
        if (next !== '') query.set('cursor', next);
        const response = await send('GET', `/${resource}?${query}`);
        if (response.status >= 400) return failure(response);
        const { body } = response;
        pages.push({ records: body[resource] as unknown as JsonObject[], total: body.total });
        next = body.next;
      }
      return { pages };
    },
  };
}

type Headers = Readonly<Record<string, string>>;

function queryOf({ filter, order, limit }: ListCall): URLSearchParams {
  const { ids, createdAt, updatedAt, publishedAt, ...texts } = filter;
  const query = new URLSearchParams({ limit: String(limit), count: 'exact' });
  query.set('sort', order.direction === 'desc' ? `-${order.by}` : order.by);
  // A query cannot contain an empty list of ids. An unknown id also matches nothing.
  for (const id of ids?.length === 0 ? [''] : (ids ?? [])) query.append('id', id);
  for (const [name, value] of Object.entries(texts)) {
    if (value !== undefined) query.set(name.replace('StartsWith', '[startsWith]'), value ?? '');
  }
  if (publishedAt === null) query.set('publishedAt', 'null');
  for (const [name, span] of Object.entries({ createdAt, updatedAt, publishedAt })) {
    const { from, before }: TimeSpan = span ?? {};
    if (from !== undefined) query.set(`${name}[gte]`, from);
    if (before !== undefined) query.set(`${name}[lt]`, before);
  }
  return query;
}

function conditional({ only, except }: Precondition): Headers {
  const tags = (versions: NonNullable<typeof only>) =>
    versions === 'any' ? '*' : versions.map((version) => `"${version}"`).join(', ') || '"none"';
  return {
    ...(only && { 'If-Match': tags(only) }),
    ...(except && { 'If-None-Match': tags(except) }),
  };
}

function recordOf(response: Answer) {
  return { record: response.body as unknown as JsonObject, version: versionOf(response) };
}

function versionOf({ headers }: Answer): number {
  return Number(/^"(\d+)"$/.exec(headers.get('ETag') ?? '')?.[1]);
}

function failure(response: Answer): Outcome {
  const { status, body } = response;
  expect(status).to.be.below(500);
  const { code, errors, posts } = expectProblem(response, status, body.code);
  return {
    error: code,
    ...(errors && { issues: errors.map((one) => `${one.pointer} ${one.code}`) }),
    ...(posts !== undefined && { posts: Number(posts) }),
    ...(status === 412 && { version: versionOf(response) }),
  };
}
