import type { Socket } from 'node:net';
import { acceptedAt } from '../context.ts';

/** For how many milliseconds of an iteration of the event loop requests can start, and how many waiting ones can. */
const budget = { iterationMs: 10, starts: 256 };

/**
 * After an iteration of more than `iterationMs`, nothing starts for an eighth of its duration, at most `maxMs`: Node
 * accepts one connection per iteration, so other clients need short ones. After an iteration of more than
 * `connectingMs`, nothing starts while each one brings a new client, for at most `connectingIterations`.
 */
const pause = { iterationMs: 20, part: 8, maxMs: 25, connectingMs: 2, connectingIterations: 500 };

/** The requests that wait for the event loop. */
interface WaitingRequests {
  count(): number;
  /** Returns false if none can start. */
  startNext(): boolean;
  /** Called when a request has used the event loop until now. */
  charge(): void;
}

/**
 * Decides when requests start, so that they do not keep the event loop from accepting and reading other clients'
 * requests. `test/faults/http-pressure.ts` fails without each of these rules.
 */
export class Scheduler {
  readonly #requests: WaitingRequests;
  /** When the first request of this iteration started; undefined if none has. */
  #iterationStart: number | undefined;
  /** Pending immediates, each of which will start a waiting request. */
  #scheduled = 0;
  /** True if the next iteration can start requests, too. */
  #canContinue = false;
  #isPausing = false;
  /** True if a new client has sent its first request since the last iteration ended. */
  #hasNewClients = false;

  constructor(requests: WaitingRequests) {
    this.#requests = requests;
  }

  /** Called for each request. */
  arrived(socket: Socket): void {
    if (isNew(socket)) this.#hasNewClients = true;
  }

  /** True if a request can start now. The first call in an iteration starts its clock. */
  hasTime(): boolean {
    if (this.#isPausing) return false;
    const now = performance.now();
    if (this.#iterationStart === undefined) {
      this.#iterationStart = now;
      if (this.#scheduled === 0) setImmediate(this.#onIterationEnd);
    }
    return now - this.#iterationStart < budget.iterationMs;
  }

  /** Starts waiting requests soon. Each has an immediate of its own: it does all it can before the next one starts. */
  schedule(): void {
    const waiting = this.#requests.count();
    if (waiting === 0 || this.#scheduled > 0 || this.#isPausing) return;
    this.#scheduled = Math.min(waiting, budget.starts);
    this.#canContinue = false;
    for (let n = 0; n < this.#scheduled; n++) setImmediate(this.#onImmediate);
  }

  readonly #onImmediate = (): void => {
    this.#requests.charge();
    if (!this.hasTime() || this.#requests.startNext()) this.#canContinue = true;
    this.#scheduled -= 1;
    if (this.#scheduled === 0) this.#endIteration();
  };

  readonly #onIterationEnd = (): void => {
    if (this.#scheduled === 0) this.#endIteration();
  };

  #endIteration(): void {
    this.#requests.charge();
    const now = performance.now();
    const heldMs = now - (this.#iterationStart ?? now);
    this.#iterationStart = undefined;
    if (heldMs <= pause.connectingMs) {
      if (this.#canContinue) this.schedule();
      return;
    }
    this.#isPausing = true;
    if (heldMs <= pause.iterationMs) {
      this.#letClientsConnect(pause.connectingIterations);
      return;
    }
    const ms = Math.min(heldMs / pause.part, pause.maxMs);
    setTimeout(this.#letClientsConnect, ms, pause.connectingIterations);
  }

  readonly #letClientsConnect = (iterations: number): void => {
    const isConnecting = this.#hasNewClients && iterations > 0;
    this.#hasNewClients = false;
    if (isConnecting) {
      setImmediate(this.#letClientsConnect, iterations - 1);
      return;
    }
    this.#isPausing = false;
    this.schedule();
  };
}

/** True before the first response on a connection that was accepted within the last second. */
function isNew(socket: Socket): boolean {
  const { [acceptedAt]: since } = socket as { readonly [acceptedAt]?: number };
  return since !== undefined && socket.bytesWritten === 0 && performance.now() - since < 1000;
}
