import { hash } from 'node:crypto';
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { type Caller, type Scope, scopes } from '../../domain/access/caller.ts';
import type { Authentication, Refused, TokenVerifier } from '../../ports/token-verifier.ts';
import { CredentialsError, CredentialsUnavailable } from './errors.ts';

export interface TokenOptions {
  /** The required `iss` of a token. */
  readonly issuer: string;
  /** The required `aud` of a token. */
  readonly audience: string;
  /** Where the issuer publishes its keys (RFC 7517). */
  readonly jwksUrl: string;
  /** The claim that contains the id of the caller's user. Default: `sub`. */
  readonly subjectClaim?: string | undefined;
}

/** Only asymmetric signatures: a key that verifies tokens can't sign them. */
const algorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/**
 * Milliseconds until a fetch of the keys is given up, and from the end of one until the next: for a
 * token that fits none of them, for any token, and for one that waits for the fetch. Known tokens
 * included, a key that is withdrawn is trusted for 10 minutes at most.
 */
const fetching = { timeout: 3000, cooldown: 30_000, interval: 300_000, wait: 540_000 } as const;

/** While no keys are known, milliseconds from a fetch that failed until the next: each failure doubles them. */
const retry = { first: 1000, most: 30_000 } as const;

/** The maximum size of a key set, in bytes. */
const maxKeySetBytes = 1024 * 1024;

/** The tolerated clock difference, in seconds. */
const clockTolerance = 30;

/** How long a valid token is cached, and how many tokens are. */
const cacheLimits = { ms: 60_000, tokens: 10_000 } as const;

interface Known {
  readonly caller: Caller;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/** Verifies access tokens of an identity provider: JWTs (RFC 9068), with the provider's public keys. */
export class Tokens implements TokenVerifier {
  readonly #options: TokenOptions;
  #keys: JWTVerifyGetKey | undefined;
  /** The fetch in progress. */
  #fetching: Promise<void> | undefined;
  /** When the last fetch ended, in milliseconds since the epoch, and why it failed. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #retryMs = retry.first / 2;
  /** Keyed by the digest of the token; the oldest first. */
  readonly #known = new Map<string, Known>();

  /** @throws CredentialsError */
  constructor(options: TokenOptions) {
    this.#options = options;
    if (!URL.canParse(options.jwksUrl)) {
      throw new CredentialsError(`"${options.jwksUrl}" is not the URL of a key set.`);
    }
  }

  known(token: string): Caller | undefined {
    const found = this.#known.get(digestOf(token));
    return found !== undefined && Date.now() < found.until ? found.caller : undefined;
  }

  /** @throws CredentialsUnavailable */
  async authenticate(token: string): Promise<Authentication> {
    const known = this.known(token);
    if (known !== undefined) return known;
    const found = isCanonical(token) ? await this.#verify(token) : { refused: 'signature' };
    if ('refused' in found) return found;
    const digest = digestOf(token);
    this.#known.delete(digest);
    this.#known.set(digest, found);
    if (this.#known.size > cacheLimits.tokens) {
      const [oldest = ''] = this.#known.keys();
      this.#known.delete(oldest);
    }
    return found.caller;
  }

  async #verify(token: string): Promise<Known | Refused> {
    try {
      return this.#callerOf(await this.#check(token));
    } catch (error) {
      if (error instanceof CredentialsUnavailable) throw error;
      return { refused: reasonOf(error) };
    }
  }

  /** Verifies a token. If no key matches, fetches the keys again, because the provider may have rotated them. */
  async #check(token: string): Promise<JWTVerifyResult> {
    const { issuer, audience } = this.#options;
    const requiredClaims = ['exp', 'sub'];
    const required = { issuer, audience, algorithms, clockTolerance, requiredClaims };
    const before = this.#fetchedAt;
    // `jku`, `x5u` and `jwk` of a token's header are never looked at.
    try {
      return await this.#try(token, required);
    } catch (error) {
      // The keys may have changed meanwhile.
      const isCurrent = this.#fetchedAt === before;
      const isCooling = Date.now() - before < fetching.cooldown;
      const couldFit = ['kid', 'signature'].includes(reasonOf(error));
      if (!couldFit || (isCurrent && isCooling)) throw error;
      if (isCurrent) await this.#fetch();
      return await this.#try(token, required);
    }
  }

  /** Verifies a token with its key. A token without a `kid` is tried against every matching key. */
  async #try(token: string, required: JWTVerifyOptions): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(token, this.#key, required);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return await jwtVerify(token, key, required);
        } catch (mismatch) {
          if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
        }
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  /** Finds the key of a token. If the provider is down, known keys stay valid. */
  readonly #key: JWTVerifyGetKey = async (header, token) => {
    const age = Date.now() - this.#fetchedAt;
    const isKnown = this.#keys !== undefined;
    const fetched = age < (isKnown ? fetching.interval : this.#retryMs) ? undefined : this.#fetch();
    if (!isKnown || age >= fetching.wait) await fetched;
    if (this.#keys !== undefined) return this.#keys(header, token);
    throw new CredentialsUnavailable('The keys of the identity provider are not known.', {
      cause: this.#failure,
    });
  };

  /** Fetches the keys. Concurrent callers share one fetch. */
  #fetch(): Promise<void> {
    this.#fetching ??= fetchKeys(this.#options.jwksUrl)
      .then((keys) => {
        this.#keys = createLocalJWKSet(keys);
      })
      .catch((error: unknown) => {
        this.#failure = error;
        this.#retryMs = Math.min(this.#retryMs * 2, retry.most);
      })
      .finally(() => {
        this.#fetchedAt = Date.now();
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  #callerOf({ payload, protectedHeader }: JWTVerifyResult): Known | Refused {
    if (!isAccessToken(payload, protectedHeader.typ)) return { refused: 'typ' };
    // Only a client that proves that it has the key may use such a token (RFC 7800), and Rostrum checks no proof.
    if ('cnf' in payload) return { refused: 'cnf' };
    const { sub, iat = 0 } = payload;
    const subject = payload[this.#options.subjectClaim ?? 'sub'];
    if (iat > Date.now() / 1000 + clockTolerance) return { refused: 'iat' };
    if (!isName(sub) || !(subject === undefined || isName(subject))) return { refused: 'sub' };
    const of = { subject: subject ?? null, scopes: new Set(scopesOf(payload)) };
    const end = (Number(payload.exp) + clockTolerance) * 1000;
    const until = Math.min(end, Date.now() + cacheLimits.ms);
    return { caller: { name: `token:${sub}`, ...of }, until };
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}

/** Fetches a key set. @throws if it is larger than {@link maxKeySetBytes} */
async function fetchKeys(url: string): Promise<JSONWebKeySet> {
  const signal = AbortSignal.timeout(fetching.timeout);
  const response = await fetch(url, { redirect: 'manual', signal });
  if (response.status !== 200)
    throw new Error(`The set of keys has the status ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxKeySetBytes) throw new Error('The set of keys is larger than 1 MiB.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Returns why a token is rejected, without any value from the token. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'exp';
  if (error instanceof errors.JWTClaimValidationFailed) return error.claim;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'kid';
  return error instanceof errors.JOSEAlgNotAllowed ? 'alg' : 'malformed';
}

/** Rejects a second spelling of a token: a decoder ignores some bits of a signature's last character. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

/** False for ID tokens, which prove a login but grant no access (RFC 9068, sections 2.1 and 4). */
function isAccessToken(payload: JWTPayload, typ: string | undefined): boolean {
  const type = typ?.toLowerCase().replace(/^application\//, '');
  if (type !== 'at+jwt' && type !== 'jwt') return false;
  if (payload.typ === 'ID' || payload.token_use === 'id') return false; // Keycloak's, Cognito's.
  return !['nonce', 'at_hash', 'c_hash'].some((claim) => claim in payload);
}

function isName(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.trim() !== '';
}

/** Reads `scope`, a string (RFC 8693, section 4.2), or `scp`, a list or a string. */
function scopesOf({ scope, scp }: JWTPayload): Scope[] {
  const given = scope ?? scp;
  const names = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : [];
  return scopes.filter((name) => names.includes(name));
}
