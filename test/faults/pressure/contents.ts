import { connect } from 'node:net';
import { openStore } from '../../../src/adapters/inversify/open-store.ts';
import { instantFromMs } from '../../../src/domain/records/instant.ts';
import { VersionedRecord } from '../../../src/domain/records/record.ts';
import type { Transfer } from '../../../src/ports/transfer.ts';
import { readResponses } from '../../support/responses.ts';
import { endOfEvents } from '../event-load.ts';

/** The initial contents of a store: posts of one author, each with so many bytes of JSON. */
export interface Contents {
  readonly posts: number;
  readonly bytes: number;
}

/** The records in a filled store. */
export interface Filled {
  readonly author: string;
  /** The position in the event log after the author and before the posts. */
  readonly position: string;
  readonly posts: readonly string[];
}

const silent = { info() {}, warn() {}, error() {} };

/** Loads the records directly into a store, before the server starts. */
export async function loadContents(url: string, { posts, bytes }: Contents): Promise<Filled> {
  await using store = await openStore(url, silent);
  const to = store.transfer as Transfer;
  const at = instantFromMs(Date.now());
  const made = (id: string) => ({ id, createdAt: at, updatedAt: at });
  const ann = { ...made('ann'), name: 'Ann', email: null };
  await to.users.load([new VersionedRecord(ann, 1)]);
  const { next: position = '' } = (await store.events?.read(1)) ?? {};
  const ids = Array.from({ length: posts }, (_, n) => `post-${n}`);
  const batch = Math.max(1, Math.min(1000, Math.floor(2 ** 22 / bytes)));
  // One batch after another: on MongoDB, batches with posts of the same author conflict.
  for (let first = 0; first < posts; first += batch) {
    const records = ids.slice(first, first + batch).map((id, n) => {
      return new VersionedRecord(
        { ...made(id), ...fieldsOf(first + n, bytes, 'ann'), publishedAt: at },
        1,
      );
    });
    await to.posts.load(records);
  }
  return { author: 'ann', position, posts: ids };
}

/** Creates the same records over HTTP, for a store that only the server can access. */
export async function postContents(address: string, { posts, bytes }: Contents): Promise<Filled> {
  const { id: author } = await post(address, '/users', { name: 'Ann' });
  const position = await endOfEvents(address);
  const ids: string[] = [];
  let next = 0;
  const fill = async () => {
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      const postNext = () => {
        if (next >= posts) return resolve();
        socket.write(withBody('POST', '/posts', JSON.stringify(fieldsOf(next++, bytes, author))));
      };
      const received = (head: string) => {
        const id = /\r\nlocation: \S+\/(\S+)/i.exec(head)?.[1];
        if (id === undefined) return reject(new Error(`A post is refused: ${head}`));
        ids.push(id);
        postNext();
      };
      readResponses(socket.on('error', reject), received, reject);
      postNext();
    });
    socket.destroy();
  };
  await Promise.all(Array.from({ length: 32 }, fill));
  return { author, position, posts: ids };
}

/** Returns a request without the empty line that ends its headers. */
export function head(method: string, path: string, whole = `/api/v1${path}`): string {
  const typed = method === 'GET' ? '' : 'Content-Type: application/json\r\n';
  return `${method} ${whole} HTTP/1.1\r\nHost: localhost\r\n${typed}`;
}

export function withBody(method: string, path: string, body: string, headers = ''): string {
  return `${head(method, path)}${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Creates a record. */
export async function post(address: string, path: string, body: object): Promise<{ id: string }> {
  const response = await fetch(`${address}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as { id: string };
}

/** Returns the fields of post number n. Every second post has the same title. */
function fieldsOf(n: number, bytes: number, authorId: string) {
  const title = n % 2 === 0 ? `Post ${n}` : 'Untitled';
  // In a custom field, because a body can have 500,000 characters only.
  return { title, body: '', authorId, text: 'x'.repeat(Math.max(0, bytes - 250)) };
}
