import { isLoopback } from '../../domain/access/hosts.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Authenticate, RateLimits, TokenVerifier } from '../http/index.ts';

/** The window of rate limits: one minute. */
const window = 60;

/** How many rejected tokens per minute an address can send before its unknown tokens get 429 unchecked. */
const refusedTokens = 100;

/**
 * Returns a check of keys, tokens or both, as the settings say; undefined if neither is set. Loads only what it needs.
 *
 * @throws CredentialsError
 */
export async function createAuthenticate(
  settings: Settings,
  logger: Logger,
): Promise<Authenticate | undefined> {
  const { authKeys, authIssuer, authAudience, authJwksUrl, authSubjectClaim } = settings;
  const verifiers: TokenVerifier[] = [];
  const forTokens = [authIssuer, authAudience, authJwksUrl];
  if (authKeys === undefined && forTokens.every((one) => one === undefined)) return undefined;
  const { CredentialsError, KeyFile } = await import('../credentials/index.ts');
  if (authKeys !== undefined) verifiers.push(new KeyFile(authKeys, logger));
  if (authIssuer !== undefined && authAudience !== undefined && authJwksUrl !== undefined) {
    const { Tokens } = await import('../credentials/tokens.ts');
    const from = { issuer: authIssuer, audience: authAudience, jwksUrl: authJwksUrl };
    verifiers.push(new Tokens({ ...from, subjectClaim: authSubjectClaim }));
  } else if (forTokens.some((one) => one !== undefined)) {
    throw new CredentialsError(
      'Tokens need all three of --auth-issuer, --auth-audience and --auth-jwks-url.',
    );
  }
  const { bearerAuthentication } = await import('../http/index.ts');
  return bearerAuthentication(verifiers);
}

/** Returns the rate limits: rejected tokens are always counted, requests only if a limit is set. */
export async function createRateLimits(
  { rateLimit: limit }: Settings,
  authenticate: Authenticate | undefined,
): Promise<RateLimits> {
  if (limit === 0 && authenticate === undefined) return {};
  const { RateLimiterMemory } = await import('rate-limiter-flexible');
  const limiter = (points: number) =>
    points === 0 ? undefined : new RateLimiterMemory({ points, duration: window });
  return {
    address: limiter(limit),
    caller: authenticate && limiter(limit),
    failures: authenticate && limiter(refusedTokens),
  };
}

/**
 * The names of a server that asks for no credentials and listens on loopback: a web page that
 * reaches it through another domain is rejected (DNS rebinding). On other addresses, any name is accepted.
 */
export function ownHosts({ host, publicUrl }: Settings): ((name: string) => boolean) | undefined {
  if (!isLoopback(host)) return undefined;
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  return (name) => isLoopback(name) || name === own;
}
