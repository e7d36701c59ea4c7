import { scopes } from '../../../domain/access/caller.ts';
import { mcpPath } from '../access/metadata.ts';
import type { CheckedOptions } from '../check-options.ts';
import { type Context, publicUrlOf } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { listSignal } from '../lists/query.ts';
import { logChange } from '../operator/log.ts';
import { Problem } from '../problems/problem.ts';

/** The MCP endpoint, if there is one. Each tool checks the scopes that it needs, so any scope is enough here. */
export function mcpEndpoints({ mcp, cors = [] }: CheckedOptions): readonly Endpoint[] {
  if (mcp === undefined) return [];
  const endpoint: Endpoint = {
    method: 'POST',
    path: mcpPath,
    operation: 'mcp',
    summary: 'Serve AI agents (Model Context Protocol)',
    scopes,
    resource: mcpPath,
    body: true,
    isList: true, // Most tools list or read large records.
    responses: {},
    async handle(ctx) {
      checkOrigin(ctx, cors);
      const { caller = null } = ctx.state.rostrum;
      const sent = Object.entries(ctx.headers as Record<string, string>);
      const headers = sent.filter(([name]) => /^(?:accept|content-type|mcp-.*)$/.test(name));
      // The bytes as sent: JSON.stringify fails for an object that is nested very deep.
      const body = ctx.request.rawBody as unknown as Buffer<ArrayBuffer>;
      const init = { method: 'POST', headers, body, signal: listSignal(ctx) };
      const request = new Request(`http://localhost${mcpPath}`, init);
      const response = await mcp(request, caller, (change) => logChange(ctx, change));
      const text = await response.text();
      ctx.set('Cache-Control', 'no-store');
      ctx.set('Content-Type', response.headers.get('Content-Type') ?? '');
      ctx.body = text === '' ? null : text;
      ctx.status = response.status;
    },
  };
  return [endpoint];
}

/** Protects against web pages of other sites, as the protocol requires: 403. */
function checkOrigin(ctx: Context, origins: readonly string[]): void {
  const { origin } = ctx.headers;
  const own = URL.parse(publicUrlOf(ctx))?.origin;
  if (origin === undefined || origin === own || origins.includes(origin)) return;
  throw new Problem('forbidden', 'Web pages of this origin are not allowed to call this path.');
}
