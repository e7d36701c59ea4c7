import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SamplingDecision,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'chai';
import { openTelemetry } from '../../src/adapters/http/operator/opentelemetry.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { storeUnavailable } from '../../src/domain/errors.ts';
import type { Store } from '../../src/index.ts';
import { startApi } from '../adapters/http/support/api.ts';
import { keepLog } from '../adapters/http/support/log.ts';
import { outcomeOf, start } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';

/** The copy that the sources import: a tracer stays with the copy that created it. */
const { context, propagation, SpanKind, SpanStatusCode, trace } = createRequire(
  join(repository, 'package.json'),
)('@opentelemetry/api') as typeof import('@opentelemetry/api');

const { RECORD_AND_SAMPLED, NOT_RECORD } = SamplingDecision;
const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const traceparent = `00-${traceId}-${parentId}-01`;

const exporter = new InMemorySpanExporter();
/** Whether the sampler records new traces. */
let isRecorded = true;

/** Registers a provider globally, as an operator would. */
function register(): void {
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const decision = () => (isRecorded ? RECORD_AND_SAMPLED : NOT_RECORD);
  const sampler = { shouldSample: () => ({ decision: decision() }), toString: () => 'test' };
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors, sampler }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

/** A store that creates a span for each user that is read, like an instrumented driver. */
function tracedStore(): Store {
  const store = createMemoryStore();
  const { users } = store;
  const get = users.get.bind(users);
  users.get = (id) =>
    trace.getTracer('driver').startActiveSpan('find', async (span) => {
      span.end();
      if (id === 'down') throw storeUnavailable('none');
      return get(id);
    });
  return store;
}

describe('OpenTelemetry spans', () => {
  const { logger, lines } = keepLog();
  const startTraced = () =>
    startApi({ store: tracedStore(), app: { logger, trace: openTelemetry } });
  it('are not created without a provider; the log still has the trace id of the client', async () => {
    await using api = await startTraced();
    await api.get('/users', { traceparent });
    expect(lines.at(-1)).to.include({ traceId });
    await api.get('/users');
    expect(lines.at(-1)).to.not.have.property('traceId');
  });

  it('are created by the program if a provider is registered with --import', async () => {
    const provider = ['--import', import.meta.resolve('./register-spans.ts')];
    const program = ['src/main.ts', '--store', 'memory:', '--port', '0', '--log-level', 'error'];
    const args = [...provider, ...program];
    const child = start(process.execPath, args, { cwd: repository });
    const ended = outcomeOf(child);
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    await fetch(`${/http:\S+/.exec(line)?.[0]}/api/v1/users`);
    child.kill();
    expect((await ended).stdout).to.include('span listUsers\n');
  });

  describe('with a provider', () => {
    before(register);
    beforeEach(() => {
      exporter.reset();
      isRecorded = true;
    });
    after(() => {
      for (const api of [trace, context, propagation]) api.disable();
    });

    it('are created per request, as a child of the client’s span and parent of the driver’s', async () => {
      await using api = await startTraced();
      await api.get('/users/none', { traceparent });
      await api.get('/users');
      const [find, one, list] = exporter.getFinishedSpans();
      expect(one).to.deep.include({ name: 'getUser', kind: SpanKind.SERVER });
      expect(one?.parentSpanContext).to.include({ traceId, spanId: parentId });
      expect(one?.attributes).to.deep.equal({
        ...{ 'http.request.method': 'GET', 'http.response.status_code': 404 },
        ...{ 'url.path': '/api/v1/users/none', 'url.scheme': 'http' },
        'client.address': '127.0.0.1',
      });
      expect(one?.status.code).to.equal(SpanStatusCode.UNSET);
      expect(find?.parentSpanContext?.spanId).to.equal(one?.spanContext().spanId);
      expect(list).to.include({ name: 'listUsers', parentSpanContext: undefined });
      const logged = lines.slice(-2).map((line) => line.traceId);
      expect(logged).to.deep.equal([traceId, list?.spanContext().traceId]);
    });

    it('mask secrets in the path', async () => {
      await using api = await startTraced();
      await api.get('/users/rk_ann_secret');
      const attributes = exporter.getFinishedSpans().map((span) => span.attributes['url.path']);
      expect(attributes).to.include('/api/v1/users/***');
    });

    it('have the status and type of a failure', async () => {
      await using api = await startTraced();
      await api.get('/users/down');
      const failed = exporter.getFinishedSpans().find(({ name }) => name === 'getUser');
      expect(failed?.status.code).to.equal(SpanStatusCode.ERROR);
      expect(failed?.attributes).to.include({ 'error.type': 'store-unavailable' });
    });

    it('are not created if the HTTP server is already instrumented', async () => {
      const around: typeof openTelemetry = (request, serve) =>
        trace.getTracer('http').startActiveSpan('its own', (span) => {
          request.res.on('close', () => span.end());
          return openTelemetry(request, serve);
        });
      await using api = await startApi({ store: tracedStore(), app: { logger, trace: around } });
      await api.get('/users/none');
      const spans = exporter.getFinishedSpans();
      expect(spans.map(({ name }) => name)).to.have.members(['find', 'its own']);
      const ids = new Set(spans.map((span) => span.spanContext().traceId));
      expect([...ids]).to.deep.equal([lines.at(-1)?.traceId]);
    });

    it('are not recorded if the sampler decides so, and the driver’s are not either', async () => {
      isRecorded = false;
      await using api = await startTraced();
      await api.get('/users/none', { traceparent });
      expect(exporter.getFinishedSpans()).to.deep.equal([]);
      expect(lines.at(-1)).to.include({ traceId });
    });
  });
});
