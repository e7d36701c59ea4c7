/** Spans of requests, made only with the OpenTelemetry API: a registered provider receives them. */
import {
  context,
  isSpanContextValid,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Context, Middleware } from '../context.ts';
import { maskedPath } from './log.ts';

/** Middleware that serves a request as part of a trace. */
export type Trace = Middleware;

/** Follows providers that are registered later, too. */
const tracer = trace.getTracer('rostrum');

/**
 * Serves a request inside a span, the child of the one that its `traceparent` names. If the HTTP server is
 * instrumented already, its span is used and no second one is made.
 */
export const openTelemetry: Trace = (ctx, next) => {
  const { rostrum } = ctx.state;
  const given = trace.getActiveSpan();
  if (given !== undefined) {
    rostrum.traceId = given.spanContext().traceId;
    return next();
  }
  const parent = propagation.extract(context.active(), ctx.headers);
  const attributes = {
    'http.request.method': ctx.method,
    'url.path': maskedPath(ctx),
    'url.scheme': ctx.protocol,
    'client.address': rostrum.address,
  };
  const span = tracer.startSpan(ctx.method, { kind: SpanKind.SERVER, attributes }, parent);
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return next(); // There is no provider.
  rostrum.traceId = spanContext.traceId;
  ctx.res.once('close', () => endSpan(ctx, span));
  return context.with(trace.setSpan(parent, span), next);
};

function endSpan({ res, state: { rostrum } }: Context, span: ReturnType<typeof tracer.startSpan>) {
  const { operation, problem } = rostrum;
  if (operation !== '') span.updateName(operation);
  if (!res.writableFinished) {
    span.setAttribute('error.type', 'aborted');
  } else {
    span.setAttribute('http.response.status_code', res.statusCode);
    if (res.statusCode >= 500) {
      span.setAttribute('error.type', problem?.code ?? String(res.statusCode));
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
  }
  span.end();
}
