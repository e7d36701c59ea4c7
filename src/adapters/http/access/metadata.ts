import { scopes } from '../../../domain/caller.ts';
import { type Context, publicUrlOf } from '../context.ts';

/** The path of MCP: relative to the site in the program, and to the prefix in another app. */
export const mcpPath = '/mcp';

/** The path of the protected resource metadata (RFC 9728, section 3). */
export function metadataPath(prefix: string): string {
  return `/.well-known/oauth-protected-resource${prefix}`;
}

/** Returns the URL of the metadata of a resource; undefined if the app does not serve it. */
export function metadataUrl(ctx: Context, resource: string | undefined): string | undefined {
  const { app } = ctx.state.rostrum;
  return app.hasPages ? publicUrlOf(ctx) + metadataPath(resource ?? app.prefix) : undefined;
}

/** Returns the metadata of the API or of MCP: its URL, its scopes and who issues tokens (RFC 9728, section 2). */
export function resourceMetadata(ctx: Context, path: string): object {
  const { issuer } = ctx.state.rostrum.app;
  return {
    resource: publicUrlOf(ctx) + path,
    ...(issuer !== undefined && { authorization_servers: [issuer] }),
    scopes_supported: scopes,
    bearer_methods_supported: ['header'],
  };
}
