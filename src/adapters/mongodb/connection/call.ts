import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, type RostrumError, storeUnavailable } from '../../../domain/errors.ts';
import { isTransient, translate } from '../errors.ts';
import { limits } from '../limits.ts';

/** The options of the driver for one command. */
export interface CommandOptions {
  /** How long the command may run on the server. */
  readonly maxTimeMS: number;
  /** Aborting it makes the driver close the connection, so that the server ends the command. */
  readonly signal: AbortSignal | undefined;
}

/**
 * One port call: its time limit, its retries, and the outcome to report. The driver gets no `timeoutMS`: the
 * call itself stops waiting, and leaves its command to the socket timeout.
 */
export class Call {
  /** The outcome to report if the call fails now. */
  outcome: Outcome = 'none';
  readonly #primary: Primary;
  readonly #signal: AbortSignal | undefined;
  #timeout: AbortController | undefined;
  /** Why the last command failed. */
  #lastError: unknown;
  readonly #started = performance.now();
  #deadline = this.#started + limits.callMs;

  constructor(primary: Primary, signal?: AbortSignal) {
    this.#primary = primary;
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() >= this.#deadline;
  }

  /**
   * Aborted if the call ends before its command. For commands that can be large: the driver never settles one whose
   * connection is closed while its socket is full, and keeps the connection for it.
   */
  get timeoutSignal(): AbortSignal {
    this.#timeout ??= new AbortController();
    return this.#timeout.signal;
  }

  /**
   * Runs a command, and waits for it until the call ends. An outage becomes `store-unavailable` with the outcome of the
   * call.
   */
  async run<T>(command: (options: CommandOptions) => Promise<T>): Promise<T> {
    const maxTimeMS = Math.ceil(Math.min(this.#remainingMs(), limits.commandMs));
    try {
      return await this.within(command({ maxTimeMS, signal: this.#signal }));
    } catch (error) {
      this.#lastError = translate(error, this.outcome);
      throw this.#lastError;
    }
  }

  /**
   * Runs a read command. Repeats it after a transient error, or if another primary has taken over meanwhile:
   * a new primary has all acknowledged writes, but returns older data until it knows that a majority has them.
   */
  async read<T>(command: (options: CommandOptions) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const { term } = this.#primary;
      try {
        await this.run(() => term.confirm());
        const result = await this.run(command);
        if (this.#primary.term === term) {
          this.#primary.reportRead();
          return result;
        }
      } catch (error) {
        if (!isTransient(error)) throw error;
        await this.backOff(tries);
      }
    }
  }

  /**
   * Waits before a retry: for a random time, so that conflicting calls do not collide again, and longer after each try, so
   * that one of many competing calls succeeds.
   */
  async backOff(tries: number): Promise<void> {
    const maxMs = 5 * 2 ** Math.min(tries, 5);
    await sleep(Math.min(1 + Math.random() * maxMs, this.#remainingMs()));
  }

  /**
   * Extends the time limit of a call that makes progress in steps, up to `longCallMs` in total.
   *
   * @throws RostrumError `store-unavailable` if the call is over
   */
  extend(): void {
    this.#remainingMs(); // Throws if the call is over: its caller has an error already.
    const latest = this.#started + limits.longCallMs;
    this.#deadline = Math.max(this.#deadline, Math.min(performance.now() + limits.callMs, latest));
  }

  /** Returns the result of the work. Throws if the time runs out or the signal is aborted first. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const abort = () => reject(this.#signal?.reason);
    const check = () => {
      const left = this.#deadline - performance.now();
      if (left > 0) {
        timer = setTimeout(check, left);
        return;
      }
      const error = this.#timeoutError();
      this.#timeout?.abort(error);
      reject(error);
    };
    let timer = setTimeout(check, this.#deadline - performance.now());
    this.#signal?.addEventListener('abort', abort);
    try {
      return await Promise.race([work, ended]);
    } finally {
      clearTimeout(timer);
      this.#signal?.removeEventListener('abort', abort);
    }
  }

  #remainingMs(): number {
    this.#signal?.throwIfAborted();
    const left = this.#deadline - performance.now();
    if (left <= 0) throw this.#timeoutError();
    return left;
  }

  #timeoutError(): RostrumError {
    const { cause } = Object(this.#lastError);
    // Wrapped, because a call that ends in time can be repeated after the same cause.
    const reason = cause && new Error(`The call took too long: ${cause.message}`, { cause });
    return storeUnavailable(this.outcome, reason);
  }
}

interface KnownServer {
  readonly type: string;
  readonly address: string;
  /** Differs after each election. */
  readonly electionId: unknown;
}

/** The term of a primary, which begins with an election. */
interface Term {
  readonly name?: string;
  /** Waits until the primary has confirmed its term. Asks it once. */
  confirm(): Promise<unknown>;
}

/** Tracks the primary of the replica set and its term. */
export class Primary {
  readonly #confirm: () => Promise<unknown>;
  term: Term = { confirm: async () => {} };
  #nextRead: PromiseWithResolvers<true> | undefined;

  /** @param confirm waits until a majority has everything that the primary has */
  constructor(confirm: () => Promise<unknown>) {
    this.#confirm = confirm;
  }

  /** Fulfilled when any call has read from the primary. */
  get nextRead(): Promise<true> {
    this.#nextRead ??= Promise.withResolvers();
    return this.#nextRead.promise;
  }

  reportRead(): void {
    this.#nextRead?.resolve(true);
    this.#nextRead = undefined;
  }

  /** Called with all servers when the driver learns something new about one of them. */
  observe(servers: readonly KnownServer[]): void {
    const primary = servers.find(({ type }) => type === 'RSPrimary');
    // With `directConnection` to a secondary, the driver reads there, and a secondary never confirms. During an
    // election this only repeats reads in progress.
    const hasOnlySecondaries = !primary && servers.some(({ type }) => type === 'RSSecondary');
    const name = hasOnlySecondaries
      ? 'no primary'
      : primary && `${primary.address} ${primary.electionId}`;
    if (name === undefined || name === this.term.name) return;
    let confirming: Promise<unknown> | undefined;
    const confirm = () => {
      confirming ??= this.#confirm().catch((error) => {
        confirming = undefined;
        throw error;
      });
      return confirming;
    };
    this.term = { name, confirm };
  }
}
