import { scopes } from '../../../domain/caller.ts';
import { type Context, originOf } from '../context.ts';

/** Where the description of the API as a protected resource lies (RFC 9728, section 3). */
export function metadataPath(prefix: string): string {
  return `/.well-known/oauth-protected-resource${prefix}`;
}

/** The URL of the description; undefined if the app does not serve it. */
export function metadataUrl(ctx: Context): string | undefined {
  const { hasPages, prefix } = ctx.state.rostrum.app;
  return hasPages ? originOf(ctx) + metadataPath(prefix) : undefined;
}

/** Names the issuer of tokens for the API, and the scopes (RFC 9728, section 2). */
export function resourceMetadata(ctx: Context): object {
  const { issuer, prefix } = ctx.state.rostrum.app;
  return {
    resource: originOf(ctx) + prefix,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
}
