import type { IncomingMessage } from 'node:http';

/** How often a request has a header, whatever Node makes of the repetitions. */
export function countHeader({ rawHeaders }: IncomingMessage, lowerCaseName: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName) count += 1;
  }
  return count;
}
