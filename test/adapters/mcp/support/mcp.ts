import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpHandler, type McpOptions } from '../../../../src/adapters/mcp/index.ts';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import { type CallerInput, createRostrum, type Rostrum } from '../../../../src/index.ts';

/** The protocol revisions, and the client option that selects each. */
export const revisions = {
  '2026-07-28': { pin: '2026-07-28' },
  '2025-11-25': 'legacy',
} as const;
export type Revision = keyof typeof revisions;

export interface McpServer extends AsyncDisposable {
  readonly rostrum: Rostrum;
  readonly url: URL;
  /** The changes that the handler reported. */
  readonly changes: unknown[];
  /** Connects the official client. */
  connect(caller?: CallerInput | null, revision?: Revision): Promise<McpClient>;
}

/** Serves the handler with node:http. */
export async function startMcp(
  options: McpOptions = {},
  rostrum = createRostrum(createMemoryStore()) as Rostrum,
): Promise<McpServer> {
  const handler = createMcpHandler(rostrum, options);
  const changes: unknown[] = [];
  const callers = new Map<string, CallerInput>();
  const server = createServer(async (incoming, outgoing) => {
    const { method = 'GET' } = incoming;
    const headers = new Headers(incoming.headers as Record<string, string>);
    const body = method === 'POST' ? await buffer(incoming) : null;
    const caller = callers.get(headers.get('X-Caller') ?? '') ?? null;
    const request = new Request(new URL(incoming.url ?? '', url), { method, headers, body });
    const response = await handler(request, caller, (change) => changes.push(change));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    for await (const chunk of response.body ?? []) outgoing.write(chunk);
    outgoing.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  const clients: McpClient[] = [];
  return {
    ...{ rostrum, url, changes },
    async connect(caller = null, revision = '2026-07-28') {
      const name = String(callers.size);
      if (caller !== null) callers.set(name, caller);
      const client = await connectTo(url, { 'X-Caller': caller === null ? '' : name }, revision);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** The result of a tool call. */
export interface Outcome {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: each tool has its own results
  readonly content: any;
  /** The text block. */
  readonly text: string;
  /** Size of the whole response in bytes. */
  readonly bytes: number;
}

export interface McpClient {
  readonly revision: string | undefined;
  readonly capabilities: unknown;
  listTools: Client['listTools'];
  /** Size of the last response in bytes. */
  readonly bytes: number;
  call(name: string, args?: Record<string, unknown>): Promise<Outcome>;
  close(): Promise<void>;
}

export async function connectTo(
  url: URL,
  headers: Record<string, string> = {},
  revision: Revision = '2026-07-28',
  send: (url: string | URL, init?: RequestInit) => Promise<Response> = fetch,
): Promise<McpClient> {
  let bytes = 0;
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: revisions[revision] } },
  );
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers },
    async fetch(...request) {
      const response = await send(...request);
      const body = await response.arrayBuffer();
      if (response.ok) bytes = body.byteLength;
      return new Response(body.byteLength === 0 ? null : body, response);
    },
  });
  await client.connect(transport);
  return {
    revision: client.getNegotiatedProtocolVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: (...args) => client.listTools(...args),
    get bytes() {
      return bytes;
    },
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args });
      const [block] = result.content as { type: string; text: string }[];
      const { isError = false, structuredContent: content } = result;
      return { isError: isError === true, content, text: block?.text ?? '', bytes };
    },
    close: () => client.close(),
  };
}
