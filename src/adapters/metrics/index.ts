import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  Registry,
} from 'prom-client';
import type { Store } from '../../ports/store.ts';
import { measuredStore } from './measured-store.ts';

/** Upper bounds of the buckets of durations, in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];

/** What Prometheus reads: the metrics of the process, of HTTP, and of the store. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Durations<'endpoint' | 'status'>;
  readonly #inFlight: Gauge;
  readonly #problems: Counter<'code'>;
  readonly #operations: Durations<'collection' | 'operation' | 'outcome'>;

  constructor() {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#requests = new Durations({
      name: 'rostrum_http_request_duration_seconds',
      help: 'Time from the headers of a request to the end of its response.',
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
    this.#operations = new Durations({
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

  /** @param status absent when the client did not wait for the response */
  requestEnded(endpoint: string, status: number | undefined, seconds: number): void {
    this.#inFlight.dec();
    this.#requests.observe(seconds, endpoint, status === undefined ? 'aborted' : String(status));
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
    return measuredStore(store, (collection, operation, outcome, seconds) =>
      this.#operations.observe(seconds, collection, operation, outcome),
    );
  }

  /** All metrics in the text format of Prometheus, and its media type. */
  async exposition(): Promise<{ readonly type: string; readonly body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() };
  }
}

/** A histogram that finds its series faster: by their labels in the order of `labelNames`. */
class Durations<Label extends string> {
  readonly #histogram: Histogram<Label>;
  readonly #series = new Map<string, Histogram.Internal<Label>>();

  constructor(configuration: HistogramConfiguration<Label>) {
    this.#histogram = new Histogram(configuration);
  }

  observe(seconds: number, ...labels: string[]): void {
    const key = labels.join(' ');
    let series = this.#series.get(key);
    if (series === undefined) {
      series = this.#histogram.labels(...labels);
      this.#series.set(key, series);
    }
    series.observe(seconds);
  }
}
