/** Why the core rejects a call. Clients depend on these codes, so don't rename them. */
const messages = {
  'invalid-input': 'The input is invalid.',
  'invalid-query': 'The query is invalid.',
  'note-not-found': 'There is no note with this id.',
  'owner-not-found': 'There is no owner with this id.',
  'quota-exceeded': 'The owner has reached their quota.',
  'unknown-owner': 'There is no owner with this ownerId.',
  'version-mismatch': 'The record has changed since you read it.',
};

export type ErrorCode = keyof typeof messages;
export type Issue = { readonly field: string; readonly message: string };

/** A rejection that the caller can act on. Any other error is a bug or an outage. */
export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;

  constructor(code: ErrorCode, issues?: readonly Issue[]) {
    const fields = issues?.map(({ field }) => field).join(', ');
    super(fields ? `${messages[code]} Check ${fields}.` : messages[code]);
    this.code = code;
    this.issues = issues;
  }
}

/** Returns what a store has found. Throws if that is nothing. */
export function found<T>(record: T | null | undefined, code: ErrorCode): T {
  if (record === null || record === undefined) throw new DomainError(code);
  return record;
}
