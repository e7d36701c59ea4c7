import type { Context } from 'koa';
import { scopes } from '../../../domain/caller.ts';
import type { Exchange } from '../exchange.ts';
import { readOnly } from '../request/read-only.ts';
import { json, type Response, revalidated } from '../response.ts';

/** Where the description of a protected resource lies (RFC 9728, section 3). */
export function metadataPath(prefix: string): string {
  return `/.well-known/oauth-protected-resource${prefix}`;
}

/** Names the issuer of tokens for the API, and which scopes there are (RFC 9728, section 2). */
export function resourceMetadata(
  ctx: Context,
  { site }: Exchange,
  prefix: string,
  issuer: string | undefined,
): Response {
  const body = {
    resource: `${site}${prefix}`,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
  return readOnly(ctx, () => json(200, JSON.stringify(body), revalidated));
}
