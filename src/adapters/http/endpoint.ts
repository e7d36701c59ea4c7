import type { IncomingHttpHeaders } from 'node:http';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import type { Answer } from './answer.ts';
import type { BodyForm } from './body-form.ts';
import type { JsonBody } from './body-gate.ts';
import type { JsonSchema } from './json-schema.ts';
import type { ProblemCode } from './problem-catalogue.ts';
import type { Query } from './query.ts';
import type { Slots } from './slots.ts';
import type { UnsentAnswer } from './unsent.ts';

/** A query parameter that an endpoint takes. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** How often it may be given; once when absent. */
  readonly atMost?: number;
  /** What is wrong with a value, as a sentence. */
  check?(value: string): string | undefined;
}

/** A header that an endpoint reads. */
export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** What is wrong with a value, as a sentence. */
  check?(value: string): string | undefined;
}

export interface EndpointBody extends BodyForm {
  readonly schema: JsonSchema;
}

/** One way in which an endpoint answers when all is well. */
export interface EndpointAnswer {
  readonly description: string;
  readonly schema?: JsonSchema;
  readonly headers?: readonly string[];
}

/** A request after all that the endpoint's definition says of it was checked. */
export interface ApiRequest {
  readonly rostrum: Rostrum;
  /** The path of the API as the client sees it, without the endpoint's own. */
  readonly base: string;
  /** Who asks: what an idempotency key belongs to. */
  readonly caller: string;
  /** The id in the path; empty for an endpoint that has none. */
  readonly id: string;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** An empty object for an endpoint that takes no body. */
  readonly body: JsonBody;
  readonly requireIfMatch: boolean;
  /** Told of the characters of an answer that grows while it is made; it may have to end there. */
  readonly grow: UnsentAnswer['grow'];
  /** For what takes much memory for a moment. */
  readonly slots: Slots;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An endpoint: what routes and validates it, and says what a description of it needs. */
export interface Endpoint {
  readonly method: Method;
  /** Below the API's prefix. */
  readonly path: string;
  /** A name for it that does not change. */
  readonly operation: string;
  readonly summary: string;
  readonly query: readonly QueryParameter[];
  readonly headers: readonly HeaderParameter[];
  readonly body?: EndpointBody;
  readonly answers: Readonly<Record<number, EndpointAnswer>>;
  /** Problems of its own, beside those that any request may end in. */
  readonly problems: readonly ProblemCode[];
  handle(request: ApiRequest): Promise<Answer>;
}
