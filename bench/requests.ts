import { postAt } from './data.ts';

export const base = '/api/v1/posts';

/** A GET as it goes over the wire. */
export function get(target: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

/** One post after another, of those that the store was filled with. */
export function getOne(posts: number): (n: number) => string {
  const requests = Array.from({ length: posts }, (_, n) => get(`${base}/${postAt(n).record.id}`));
  return (n) => requests[n % posts] ?? '';
}

export function getPage(): (n: number) => string {
  const request = get(`${base}?limit=20`);
  return () => request;
}

/** A new post, by one of the authors that the store was filled with. */
export function postOne(posts: number): (n: number) => string {
  const requests = Array.from({ length: posts }, (_, n) => {
    const { title, body, authorId } = postAt(n).record;
    const json = JSON.stringify({ title, body, authorId });
    const headers = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}`;
    return `POST ${base} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n${json}`;
  });
  return (n) => requests[n % posts] ?? '';
}
