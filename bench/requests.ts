import { setTimeout as sleep } from 'node:timers/promises';
import { inputAt } from './data.ts';
import type { Contestant, Server } from './servers.ts';

export const requestKinds = ['GET', 'page', 'POST'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** Complete requests as sent over the wire. */
export type Requests = Readonly<Record<RequestKind, readonly string[]>>;

/** The number of posts that a store starts with. */
export const inputs = Array.from({ length: 1000 }, (_, n) => inputAt(n));
const authors = 10;

const api = '/api/v1';
const pageOf20 = '/posts?limit=20';

/**
 * Fills each server with the same posts over HTTP and checks that it returns them. Returns the requests for
 * each server, because the ids differ.
 */
export async function prepare(
  servers: Readonly<Record<Contestant, Server>>,
  withAuthors: boolean,
): Promise<Record<Contestant, Requests>> {
  const names = Array.from({ length: withAuthors ? authors : 0 }, (_, n) => ({ name: `No. ${n}` }));
  const { port } = servers.Rostrum;
  const users = await Promise.all(names.map((user) => send(port, '/users', user)));
  const given = inputs.map((input, n) =>
    withAuthors ? { ...input, authorId: users[n % authors]?.id } : input,
  );
  return {
    bare: await fill(servers.bare, given),
    Fastify: await fill(servers.Fastify, given),
    Koa: await fill(servers.Koa, given),
    Rostrum: await fill(servers.Rostrum, given),
  };
}

/** Fills one server and checks that it returns the posts. */
export async function fill({ port }: Server, given: readonly object[]): Promise<Requests> {
  const ids: unknown[] = [];
  for (const input of given) {
    // Create the last post in a later millisecond, so that it is the newest by its time.
    if (ids.length === given.length - 1) await sleep(2);
    ids.push((await send(port, '/posts', input)).id);
  }
  const newest = await send(port, `/posts/${ids.at(-1)}`);
  const page = await send(port, pageOf20);
  const [first] = page.posts as unknown[];
  const isSame = JSON.stringify({ ...newest, ...given.at(-1) }) === JSON.stringify(newest);
  if (!isSame || JSON.stringify(first) !== JSON.stringify(newest) || page.next === null) {
    throw new Error(`A server returned other posts than it received: ${JSON.stringify(page)}`);
  }
  return {
    GET: ids.map((id) => wire('GET', `${api}/posts/${id}`)),
    page: [wire('GET', api + pageOf20)],
    POST: given.map((input) => wire('POST', `${api}/posts`, JSON.stringify(input))),
  };
}

/** Sends a GET with `fetch`, or a POST if there is a body. */
async function send(port: number, path: string, body?: object) {
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  const init = body === undefined ? {} : { ...post, body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}${api}${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}

/** Returns a request as sent over the wire. */
export function wire(method: string, path: string, json = ''): string {
  const form = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n`;
  const headers = `Host: 127.0.0.1\r\n${json === '' ? '' : form}`;
  return `${method} ${path} HTTP/1.1\r\n${headers}\r\n${json}`;
}
