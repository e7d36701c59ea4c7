import type { Socket } from 'node:net';
import { acceptedAt } from '../context.ts';

/** How long requests can start in one tick of the event loop, in milliseconds, and how many waiting ones can. */
const budget = { tickMs: 10, starts: 256 };

/**
 * After a tick of more than `tickMs`, nothing starts for an eighth of its duration, at most `maxMs`: Node accepts
 * one connection per tick, so other clients need short ticks. After a tick of more than `connectingMs`, nothing
 * starts while each tick brings a new client, for at most `connectingTicks`.
 */
const pause = { tickMs: 20, part: 8, maxMs: 25, connectingMs: 2, connectingTicks: 100 };

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
  /** When the first request of this tick started; undefined if none has. */
  #tickStart: number | undefined;
  /** Pending immediates, each of which will start a waiting request. */
  #scheduled = 0;
  /** True if the next tick can start requests, too. */
  #canContinue = false;
  #isPausing = false;
  /** True if a new client has sent its first request since the last tick ended. */
  #hasNewClients = false;

  constructor(requests: WaitingRequests) {
    this.#requests = requests;
  }

  /** Called for each request. */
  arrived(socket: Socket): void {
    if (isNew(socket)) this.#hasNewClients = true;
  }

  /** True if a request can start now. Its tick then begins. */
  hasTime(): boolean {
    if (this.#isPausing) return false;
    const now = performance.now();
    if (this.#tickStart === undefined) {
      this.#tickStart = now;
      if (this.#scheduled === 0) setImmediate(this.#onTickEnd);
    }
    return now - this.#tickStart < budget.tickMs;
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
    if (this.#scheduled === 0) this.#endTick();
  };

  readonly #onTickEnd = (): void => {
    if (this.#scheduled === 0) this.#endTick();
  };

  #endTick(): void {
    this.#requests.charge();
    const now = performance.now();
    const heldMs = now - (this.#tickStart ?? now);
    this.#tickStart = undefined;
    if (heldMs <= pause.connectingMs) {
      if (this.#canContinue) this.schedule();
      return;
    }
    this.#isPausing = true;
    if (heldMs <= pause.tickMs) this.#letClientsConnect(pause.connectingTicks);
    else
      setTimeout(
        this.#letClientsConnect,
        Math.min(heldMs / pause.part, pause.maxMs),
        pause.connectingTicks,
      );
  }

  readonly #letClientsConnect = (ticks: number): void => {
    const isConnecting = this.#hasNewClients && ticks > 0;
    this.#hasNewClients = false;
    if (isConnecting) {
      setImmediate(this.#letClientsConnect, ticks - 1);
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
