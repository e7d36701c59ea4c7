import { randomUUID } from 'node:crypto';

/** The client's own `X-Request-Id`, if it is one that may be logged and sent back; else a new one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header)
    ? header
    : randomUUID();
}
