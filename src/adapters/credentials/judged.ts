import type { Caller } from '../../domain/caller.ts';

/** Why a token is refused, in a word: a claim, a header member, or what of it does not hold. */
export interface Refused {
  readonly refused: string;
}

/** Undefined for a token of another form. */
export type Judged = Caller | Refused | undefined;

/** The identity provider cannot be reached, and none of its keys is known. */
export class CredentialsUnavailable extends Error {
  override readonly name = 'CredentialsUnavailable';
  readonly code = 'credentials-unavailable';
}

/** Credentials that cannot be set up. The message is one sentence that says what to do. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}
