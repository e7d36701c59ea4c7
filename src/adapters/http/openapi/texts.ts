import type { Endpoint } from '../endpoint.ts';

const texts: Readonly<Record<string, string>> = {
  list: 'A page ends at "limit", or before it has more than 2 MiB. Only "next" tells whether more follow.',
  create: 'With an Idempotency-Key it is safe to repeat: one key makes one record for 24 hours.',
  get: 'With If-None-Match, the response is 304 while the record is at that version.',
  replace: 'Fields that are left out are gone. It never makes a record.',
  patch: 'A JSON merge patch (RFC 7396): absent is unchanged, and null removes.',
  delete: 'It cannot be undone.',
};

/** What there is to know of an operation besides its summary. */
export function describe(operation: string): string {
  return texts[operation.replace(/[A-Z].*/, '')] ?? '';
}

/** What callers need to be allowed, and what becomes of it that they are known. */
const ofCallers: Readonly<Record<string, string>> = {
  deleteUser:
    ' With "posts", it needs posts:write too, or posts:write:own where the user is the caller.',
  createPost: ' Without an author, the post gets the caller for its author, if that is a user.',
};

export function describeScopes({ operation, scopes }: Endpoint): string {
  const [always, own] = scopes;
  const or = own === undefined ? '' : `, or ${own} for what is the caller's own`;
  return `Needs the scope ${always}${or}.${ofCallers[operation] ?? ''}`;
}
