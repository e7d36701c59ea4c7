import type { Caller } from '../domain/caller.ts';

/** Turns a bearer token into a caller. */
export interface TokenVerifier {
  /** Undefined for a token of another form: other verifiers know why it is refused. */
  authenticate(token: string): Judged | Promise<Judged>;
  /** The caller of a token, where that costs nothing to know. */
  known?(token: string): Caller | undefined;
}

/** What became of credentials; undefined where there are none, or none of a known form. */
export type Judged = Caller | Refused | undefined;

/** Credentials that are refused, and why in a word: the log has it, the client never. */
export interface Refused {
  readonly refused: string;
}
