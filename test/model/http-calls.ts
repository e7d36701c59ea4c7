import { expect } from 'chai';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Calls, Condition, ListCall } from './calls.ts';
import type { Outcome } from './outcome.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What an answer of the API may have in its body. */
interface Body extends JsonObject {
  readonly next?: string | null;
  readonly total?: number;
  readonly code?: string;
  readonly posts?: never;
}

/** The calls, made over HTTP; each answer is held to what the contract says of every answer. */
export function httpCalls(base: string): Calls {
  const api = `${base}/api/v1`;

  async function send(method: string, path: string, headers = {}, body?: JsonObject) {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.headers.get('X-Request-Id')).to.match(/^[\w.-]{1,128}$/);
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? {} : JSON.parse(text),
    };
    return answer;
  }

  async function change(method: string, path: string, condition: Condition, body?: JsonObject) {
    const answer = await send(method, path, conditional(condition), body);
    return answer.status >= 400 ? refused(answer) : recordOf(answer);
  }

  async function remove(path: string, condition: Condition): Promise<Outcome> {
    const answer = await send('DELETE', path, conditional(condition));
    if (answer.status >= 400) return refused(answer);
    expect([answer.status, answer.body]).to.deep.equal([200, { deleted: true }]);
    return { deleted: true };
  }

  return {
    async create(kind, input, key) {
      const headers = key === undefined ? {} : { 'Idempotency-Key': key };
      const answer = await send('POST', `/${kind}`, headers, input);
      if (answer.status >= 400) return refused(answer);
      expect(answer.status).to.equal(201);
      expect(answer.headers.get('Location')).to.equal(`/api/v1/${kind}/${answer.body.id}`);
      const replayed = answer.headers.get('Idempotency-Replayed') === 'true';
      return { made: answer.body, version: versionOf(answer), replayed };
    },

    async get(kind, id) {
      const answer = await send('GET', `/${kind}/${id}`);
      if (answer.status >= 400) return refused(answer);
      const tag = String(answer.headers.get('ETag'));
      const again = await send('GET', `/${kind}/${id}`, { 'If-None-Match': `"no", W/${tag}` });
      expect([again.status, again.headers.get('ETag')]).to.deep.equal([304, tag]);
      return recordOf(answer);
    },

    replace: (kind, id, input, condition) => change('PUT', `/${kind}/${id}`, condition, input),
    patch: (kind, id, patch, condition) => change('PATCH', `/${kind}/${id}`, condition, patch),
    deleteUser: (id, posts, condition) =>
      remove(`/users/${id}${posts === 'refuse' ? '' : `?posts=${posts}`}`, condition),
    deletePost: (id, condition) => remove(`/posts/${id}`, condition),

    async list(call) {
      const records: JsonObject[] = [];
      let total = 0;
      let next: string | null = `${api}/${call.kind}?${queryOf(call)}`;
      while (next !== null) {
        const answer: Answer = await send('GET', next.slice(api.length));
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        const items = answer.body[call.kind] as unknown as JsonObject[];
        expect(items.length).to.be.at.most(call.limit);
        records.push(...items);
        total = answer.body.total ?? -1;
        expect(answer.headers.get('X-Total-Count')).to.equal(String(total));
        next = nextOf(answer, next, base);
      }
      return { records, total };
    },
  };
}

/** The next page by the header, which has to say the same as the body. */
function nextOf({ headers, body }: Answer, present: string, base: string): string | null {
  const link = /^<([^>]+)>; rel="next"$/.exec(headers.get('Link') ?? '')?.[1] ?? null;
  if (body.next === null || body.next === undefined) {
    expect([link, body.next]).to.deep.equal([null, null]);
    return null;
  }
  const url = new URL(String(link), present);
  expect(url.searchParams.get('cursor')).to.equal(body.next);
  expect(url.origin).to.equal(base);
  return url.href;
}

function queryOf(call: ListCall): URLSearchParams {
  const { sort, descending, limit, ids = [], name, email, title, authorId } = call;
  const query = new URLSearchParams({ limit: String(limit), count: 'exact' });
  query.set('sort', descending ? `-${sort}` : sort);
  // No id at all cannot be said in a query; one that is no id matches as little.
  for (const id of call.ids?.length === 0 ? [''] : ids) query.append('id', id);
  if (name !== undefined) query.set('name', name);
  if (email !== undefined) query.set('email', email);
  if (title !== undefined) query.set('title', title);
  if (authorId !== undefined) query.set('authorId', authorId ?? '');
  if (call.createdFrom !== undefined) query.set('createdAt[gte]', instant(call.createdFrom));
  if (call.updatedBefore !== undefined) query.set('updatedAt[lt]', instant(call.updatedBefore));
  return query;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function conditional({ only, except }: Condition): Record<string, string> {
  const tags = (versions: readonly number[] | 'any') =>
    versions === 'any' ? '*' : versions.map((version) => `"${version}"`).join(', ') || '"none"';
  return {
    ...(only && { 'If-Match': tags(only) }),
    ...(except && { 'If-None-Match': tags(except) }),
  };
}

function recordOf(answer: Answer): Outcome {
  expect(answer.status).to.equal(200);
  expect(answer.headers.get('Cache-Control')).to.equal('no-cache');
  return { record: answer.body, version: versionOf(answer) };
}

function versionOf({ headers }: Answer): number {
  return Number(/^"(\d+)"$/.exec(headers.get('ETag') ?? '')?.[1]);
}

function refused({ status, headers, body }: Answer): Outcome {
  expect(headers.get('Content-Type')).to.equal('application/problem+json');
  expect(headers.get('Cache-Control')).to.equal('no-store');
  expect(body).to.include({ status, type: `/problems/${body.code}`, detail: body.error });
  expect(body.requestId).to.equal(headers.get('X-Request-Id'));
  expect(status).to.be.below(500);
  const errors = body.errors as unknown as readonly { pointer: string; code: string }[];
  return {
    error: String(body.code),
    ...(errors && { issues: errors.map(({ pointer, code }) => `${pointer} ${code}`).sort() }),
    ...(body.posts !== undefined && { posts: Number(body.posts) }),
    ...(status === 412 && { version: versionOf({ status, headers, body }) }),
  };
}
