import type { Caller } from '../../domain/caller.ts';

/** Turns a bearer token into a caller. */
export interface Authenticator {
  /**
   * @returns undefined for a token that is not valid
   * @throws CredentialsUnavailable when nobody can tell at present
   */
  authenticate(token: string): Caller | undefined | Promise<Caller | undefined>;
}

/** The identity provider cannot be reached, and none of its keys is known. */
export class CredentialsUnavailable extends Error {
  override readonly name = 'CredentialsUnavailable';
  readonly code = 'credentials-unavailable';
}

/** Credentials that cannot be set up. The message is one sentence that says what to do. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}
