import type { Scope } from '../../domain/caller.ts';
import type { Audit, Exchange } from './exchange.ts';
import type { BodyForm, Parameter } from './parameter.ts';
import type { ProblemCode } from './problems/catalogue.ts';
import type { Response } from './response.ts';

/** What a body is: the name of its schema in the description. */
export type SchemaName =
  | `${'User' | 'Post'}${'' | 'Input' | 'Patch' | 'Page'}`
  | 'PublicUser'
  | 'Deleted'
  | 'EventPage';

export interface EndpointBody extends BodyForm {
  readonly schema: SchemaName;
}

/** One way in which an endpoint responds when all is well. */
export interface EndpointResponse {
  readonly description: string;
  readonly schema?: SchemaName;
  /** The schema of what a caller gets that may see less. */
  readonly publicSchema?: SchemaName;
  readonly headers?: readonly string[];
}

/** What all requests of an API share. */
export interface Api {
  /** Whether a change has to say `If-Match`. */
  readonly requireIfMatch: boolean;
  /** Told of each change that a request made. */
  readonly audit: Audit;
}

/** Makes the response to a request of which all that the endpoint's definition says was checked. */
export type Handler = (exchange: Exchange, api: Api) => Promise<Response>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** An endpoint as data: what routes and validates it, and what a description of it needs. */
export interface Endpoint {
  readonly method: Method;
  /** Below the API's prefix. */
  readonly path: string;
  /** A name for it that does not change. */
  readonly operation: string;
  readonly summary: string;
  /** What else there is to know of it. */
  readonly description?: string;
  /** A caller needs one of them; the first is enough for every record. */
  readonly scopes: readonly [Scope, ...Scope[]];
  readonly query: readonly Parameter[];
  readonly headers: readonly Parameter[];
  readonly body?: EndpointBody;
  readonly responses: Readonly<Record<number, EndpointResponse>>;
  /** Problems of its own, beside those that any request may end in. */
  readonly problems: readonly ProblemCode[];
  /** Waits for what the response is made of, after all was checked; it is not in progress meanwhile. */
  readonly wait?: (exchange: Exchange) => Promise<void>;
  readonly handle: Handler;
}
