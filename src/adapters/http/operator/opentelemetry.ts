/** Spans of requests, by the API of OpenTelemetry alone: where a provider is registered, it gets them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  context,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';

/** What is known of a request that is traced: `endpoint` and `problem` when it has ended. */
export interface TracedRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly address: string;
  readonly endpoint: string;
  readonly problem: string | undefined;
  /** Whether the whole response was sent, once it has ended. */
  readonly isSent: boolean;
  /** What the log has; as `traceparent` says, unless it is set. */
  traceId: string | undefined;
}

/** Serves a request as part of a trace. */
export type Trace = <T>(request: TracedRequest, serve: () => T) => T;

/** Follows providers that are registered later, too. */
const tracer = trace.getTracer('rostrum');

/**
 * Serves a request inside a span, the child of what its `traceparent` names. Where the HTTP server is
 * instrumented already, its span is the request's, and there is no second one.
 */
export function openTelemetry<T>(request: TracedRequest, serve: () => T): T {
  const given = trace.getActiveSpan();
  if (given !== undefined) {
    request.traceId = given.spanContext().traceId;
    return serve();
  }
  const { req, res, address } = request;
  const { method = '' } = req;
  const parent = propagation.extract(context.active(), req.headers);
  const attributes = { 'http.request.method': method, 'client.address': address };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return serve(); // There is no provider.
  request.traceId = spanContext.traceId;
  res.on('close', () => {
    const { endpoint, problem } = request;
    if (endpoint !== '') span.updateName(endpoint);
    const { statusCode } = res;
    if (!request.isSent) {
      span.setAttribute('error.type', 'aborted');
    } else {
      span.setAttribute('http.response.status_code', statusCode);
      if (statusCode >= 500) {
        span.setAttribute('error.type', problem ?? String(statusCode));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
    }
    span.end();
  });
  return context.with(trace.setSpan(parent, span), serve);
}
