import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Store } from '../../ports/store.ts';
import { type Measure, measuredStore } from './measured-store.ts';

/** Upper bounds of the buckets of durations, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What Prometheus reads: the metrics of the process, of HTTP, and of the store. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'endpoint' | 'status'>;
  readonly #durations: Histogram<'endpoint'>;
  readonly #inFlight: Gauge;
  readonly #problems: Counter<'code'>;
  readonly #operations: Counter<'collection' | 'operation' | 'outcome'>;
  readonly #operationDurations: Histogram<'collection' | 'operation'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Counter({
      name: 'rostrum_http_requests_total',
      help: 'Requests that ended, by endpoint and by status or "aborted".',
      labelNames: ['endpoint', 'status'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'rostrum_http_request_duration_seconds',
      help: "Time from a request's headers to the end of its response.",
      labelNames: ['endpoint'],
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
    this.#operations = new Counter({
      name: 'rostrum_store_operations_total',
      help: 'Calls of the store, by their outcome: "ok" or the code of the error.',
      labelNames: ['collection', 'operation', 'outcome'],
      registers,
    });
    this.#operationDurations = new Histogram({
      name: 'rostrum_store_operation_duration_seconds',
      help: 'Time that calls of the store took.',
      labelNames: ['collection', 'operation'],
      buckets,
      registers,
    });
  }

  requestBegan(): void {
    this.#inFlight.inc();
  }

  /** @param status absent when the client did not wait for the response */
  requestEnded(endpoint: string, status: number | undefined, seconds: number): void {
    this.#inFlight.dec();
    this.#requests.inc({ endpoint, status: status ?? 'aborted' });
    this.#durations.observe({ endpoint }, seconds);
  }

  /** A response was this problem. */
  problem(code: string): void {
    this.#problems.inc({ code });
  }

  /** Says how many connections are open, when somebody asks. */
  connections(count: () => number): void {
    new Gauge({
      name: 'rostrum_http_connections',
      help: 'Connections that are open.',
      registers: [this.#registry],
      collect() {
        this.set(count());
      },
    });
  }

  /** The same store, with its calls counted. */
  measured(store: Store): Store {
    const measure: Measure = (collection, operation, outcome, seconds) => {
      this.#operations.inc({ collection, operation, outcome });
      this.#operationDurations.observe({ collection, operation }, seconds);
    };
    return measuredStore(store, measure);
  }

  /** All metrics in the text format of Prometheus, and its media type. */
  async exposition(): Promise<{ readonly type: string; readonly body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() };
  }
}
