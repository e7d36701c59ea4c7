import { scopes } from '../../../domain/access/caller.ts';
import { type Context, publicUrlOf } from '../context.ts';

/** The path of MCP: relative to the site in the program, and to the prefix in another app. */
export const mcpPath = '/mcp';

/**
 * The path of the protected resource metadata (RFC 9728, section 3), below the public URL. If that has a path, the RFC
 * puts this one before it; clients find it through `resource_metadata`.
 */
export function metadataPath(path: string): string {
  return `/.well-known/oauth-protected-resource${path}`;
}

/** Returns the URL of the metadata of a resource; undefined if the app does not serve it. */
export function metadataUrl(ctx: Context, resource: string | undefined): string | undefined {
  const { settings } = ctx.state.rostrum;
  if (!settings.isWholeSite) return undefined;
  return publicUrlOf(ctx) + metadataPath(resource ?? settings.prefix);
}

/** Returns the metadata of the API or of MCP: its URL, its scopes and who issues tokens (RFC 9728, section 2). */
export function resourceMetadata(ctx: Context, path: string): object {
  const { issuer } = ctx.state.rostrum.settings;
  return {
    resource: publicUrlOf(ctx) + path,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
}
