import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Store } from '../../ports/store.ts';
import { measuredStore } from './measured-store.ts';

/** Upper bounds of the duration buckets, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

/** Metrics of the process, of HTTP and of the store, for Prometheus. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Histogram<'endpoint' | 'status'>;
  readonly #inFlight: Gauge;
  readonly #problems: Counter<'code'>;
  readonly #operations: Histogram<'collection' | 'operation' | 'outcome'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Histogram({
      name: 'rostrum_http_request_duration_seconds',
      help: 'Time from the start of serving a request to the end of its response.',
      labelNames: ['endpoint', 'status'],
      buckets,
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'rostrum_http_requests_in_flight',
      help: 'Requests that are being served.',
      registers,
    });
    this.#problems = new Counter({
      name: 'rostrum_http_problems_total',
      help: 'Responses that are problems, by their code.',
      labelNames: ['code'],
      registers,
    });
    this.#operations = new Histogram({
      name: 'rostrum_store_operation_duration_seconds',
      help: 'Time that calls of the store took, by outcome: "ok" or the code of the error.',
      labelNames: ['collection', 'operation', 'outcome'],
      buckets,
      registers,
    });
  }

  requestBegan(): void {
    this.#inFlight.inc();
  }

  /** @param status absent if the client disconnected before the response */
  requestEnded(endpoint: string, status: number | undefined, seconds: number): void {
    this.#inFlight.dec();
    this.#requests.observe({ endpoint, status: status ?? 'aborted' }, seconds);
  }

  /** Counts a response that reported this problem. */
  problem(code: string): void {
    this.#problems.inc({ code });
  }

  /** Shows how many connections are open. */
  connections(count: () => number): void {
    this.#gauge('connections', 'Connections that are open.', count);
  }

  /** Shows the state of the limiter. */
  limiter(state: () => { readonly running: number; readonly waiting: number }): void {
    this.#gauge('limiter_running', 'Requests that are being served.', () => state().running);
    this.#gauge('limiter_waiting', 'Requests that wait for their turn.', () => state().waiting);
  }

  /** Adds a gauge that is read each time metrics are read. */
  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name: `rostrum_http_${name}`,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** Wraps a store so that its calls are counted. */
  measured(store: Store): Store {
    return measuredStore(
      store,
      (collection, operation) => (outcome, seconds) =>
        this.#operations.observe({ collection, operation, outcome }, seconds),
    );
  }

  /** Returns all metrics in the Prometheus text format, with its media type. */
  async exposition(): Promise<{ readonly type: string; readonly body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() };
  }
}
