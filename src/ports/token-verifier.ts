import type { Caller } from '../domain/access/caller.ts';

/** Turns a bearer token into a caller. */
export interface TokenVerifier {
  /** Returns undefined for a token of another form, so that another verifier can check it. */
  authenticate(token: string): Authentication | Promise<Authentication>;
  /** Returns the caller of a token, if it is known without any work. */
  known?(token: string): Caller | undefined;
}

/** The result of checking credentials; undefined if there are none, or they have an unknown form. */
export type Authentication = Caller | Refused | undefined;

/** Rejected credentials. The reason, one word, goes to the log and never to the client. */
export interface Refused {
  readonly refused: string;
}
