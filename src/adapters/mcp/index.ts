/** An MCP server (Model Context Protocol): tools with which agents read and change users and posts. */
import { createMcpHandler as createProtocolHandler } from '@modelcontextprotocol/server';
import { type CallerInput, toCaller } from '../../domain/access/caller.ts';
import { recordLimits } from '../../domain/fields/rules.ts';
import { checkOptions } from '../../domain/options.ts';
import type { AnyRostrum, Rostrum } from '../../domain/services/rostrum.ts';
import { type Logger, safeLogger } from '../../ports/logger.ts';
import { inputsFor, type Schemas } from './inputs.ts';
import { type McpChange, serverFor } from './tools.ts';

export interface McpOptions {
  /** JSON Schemas (2020-12) of custom fields, which describe the arguments of tools. */
  readonly customFields?: Schemas | undefined;
  /** Whether agents can delete posts; false if absent. */
  readonly deletes?: boolean | undefined;
  /** Gets unexpected errors. */
  readonly logger?: Logger | undefined;
}

/**
 * Serves one request of an MCP client. It leaves credentials, `Host`, `Origin` and limits to what is in front. The
 * request's signal ends a list; a change is finished even if the client disconnects.
 *
 * @param caller null for a client that can do everything
 * @param onChange called with each change once it is durable
 */
export type McpHandler = (
  request: Request,
  caller: CallerInput | null,
  onChange?: (change: McpChange) => void,
) => Promise<Response>;

/** Bytes of a request: the largest record, and the message around it. The HTTP API accepts as many. */
const maxRequestBodySize = recordLimits.bytes + recordLimits.addedBytes;

/**
 * Creates an MCP server. It keeps nothing between requests.
 *
 * @throws TypeError for an unknown option
 */
export function createMcpHandler(rostrum: AnyRostrum, options: McpOptions = {}): McpHandler {
  checkOptions(options, ['customFields', 'deletes', 'logger']);
  const { customFields, deletes } = options;
  checkOptions(customFields ?? {}, ['users', 'posts'], 'customFields');
  const logger = safeLogger(options.logger);
  const inputs = inputsFor(rostrum.declaredFields, customFields, deletes);
  const { missing: field } = inputs;
  if (field !== undefined) {
    const reason = `the post schema requires "${field}", which cannot be an argument`;
    logger.warn({ field }, `MCP clients get no tool create_post: ${reason}.`);
  }
  return async (request, given, onChange = () => {}) => {
    const caller = given === null ? undefined : toCaller(given);
    const bound = (caller === undefined ? rostrum : rostrum.as(caller)) as Rostrum;
    const { signal } = request;
    const server = () => serverFor({ caller, rostrum: bound, onChange, inputs, logger, signal });
    const protocol = createProtocolHandler(server, { maxRequestBodySize, maxSubscriptions: 0 });
    const headers = new Headers(request.headers);
    const acceptsStream = headers.get('Accept')?.includes(eventStream) === true;
    if (!acceptsStream) headers.set('Accept', `application/json, ${eventStream}`);
    const response = await protocol.fetch(new Request(request, { headers, signal: null }));
    return acceptsStream ? response : toJson(response);
  };
}

const eventStream = 'text/event-stream';

/** The protocol asks clients to accept event streams, but not all do. Ours have one event, the response. */
async function toJson(response: Response): Promise<Response> {
  if (response.headers.get('Content-Type') !== eventStream) return response;
  const [, message] = /^data: (.*)$/m.exec(await response.text()) ?? [];
  return new Response(message, { headers: { 'Content-Type': 'application/json' } });
}
