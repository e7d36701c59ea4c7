import type { IncomingMessage } from 'node:http';

/** Counts how often a header was sent. Node joins or drops the repetitions in `headers`. */
export function countHeader({ rawHeaders = [] }: IncomingMessage, lowerCaseName: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count += 1;
  }
  return count;
}
