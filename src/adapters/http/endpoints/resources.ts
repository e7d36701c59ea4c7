import type { Scope } from '../../../domain/caller.ts';
import type { Endpoint } from '../endpoint.ts';
import type { RequestKind } from '../load/room.ts';
import { HeaderTable, QueryTable } from '../request/parameters.ts';

/** An endpoint and the tables that its requests are held to. */
export interface Operation {
  readonly endpoint: Endpoint;
  readonly kind: RequestKind;
  readonly query: QueryTable;
  readonly headers: HeaderTable;
}

/** A path that routes, with the one endpoint of each of its methods. */
export interface Resource {
  readonly methods: ReadonlyMap<string, Operation>;
  /** The header `Allow`. */
  readonly allow: string;
}

/** The paths below the API's prefix. `HEAD` is wherever `GET` is, and `OPTIONS` everywhere. */
export function resourcesOf(all: readonly Endpoint[]): ReadonlyMap<string, Resource> {
  const paths = Map.groupBy(all, ({ path }) => path);
  return new Map([...paths].map(([path, own]) => [path, resource(path, own)]));
}

function resource(path: string, own: readonly Endpoint[]): Resource {
  const names = own.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = [...names, 'OPTIONS'].join(', ');
  const methods = new Map<string, Operation>();
  for (const endpoint of [...own, optionsOf(path, own, allow)]) {
    const { method, query, headers } = endpoint;
    methods.set(method, {
      endpoint,
      kind: kindOf(endpoint),
      query: new QueryTable(query),
      headers: new HeaderTable(headers),
    });
  }
  const get = methods.get('GET');
  if (get !== undefined) methods.set('HEAD', get);
  return { methods, allow };
}

function kindOf({ method, responses }: Endpoint): RequestKind {
  if (method !== 'GET' && method !== 'OPTIONS') return 'write';
  return responses[200]?.schema?.endsWith('Page') ? 'list' : 'read';
}

/** Takes the parameters that a preflight of the path may have, whatever their values. */
function optionsOf(path: string, own: readonly Endpoint[], allow: string): Endpoint {
  const accepted = own.flatMap(({ body }) =>
    body && body.acceptHeader !== 'Accept' ? [body.acceptHeader, body.types.join(', ')] : [],
  );
  const response = { status: 204, headers: ['Allow', allow, ...accepted] };
  return {
    method: 'OPTIONS',
    path,
    operation: `options ${path}`,
    summary: 'What the path takes',
    scopes: own.flatMap(({ scopes }) => scopes) as [Scope, ...Scope[]],
    query: own.flatMap(({ query }) => query.map(({ check: _, ...parameter }) => parameter)),
    headers: [],
    responses: { 204: { description: 'The header Allow lists the methods.' } },
    problems: [],
    handle: async () => response,
  };
}
