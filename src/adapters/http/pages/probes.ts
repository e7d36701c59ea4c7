import { isRostrumError, storeUnavailable } from '../../../domain/errors.ts';
import { json, type Response } from '../response.ts';

/** How long a store may take to say that it is ready. */
const readyTimeoutMs = 2000;

/** The process responds. */
export const alive = json(200, JSON.stringify({ status: 'ok' }), ['Cache-Control', 'no-store']);

/** Asks the store whether it is ready: once for all that want to know it at the moment. */
export class Readiness {
  readonly #ready: () => Promise<void>;
  #asked: Promise<void> | undefined;

  constructor(ready: () => Promise<void>) {
    this.#ready = ready;
  }

  /** @throws RostrumError `store-unavailable`, whatever the reason */
  async check(): Promise<Response> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined;
    });
    await this.#asked;
    return alive;
  }

  async isReady(): Promise<boolean> {
    return this.check().then(
      () => true,
      () => false,
    );
  }

  async #ask(): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(storeUnavailable('none')), readyTimeoutMs);
    try {
      await Promise.race([this.#ready(), late]);
    } catch (cause) {
      throw isRostrumError(cause, 'store-unavailable') ? cause : storeUnavailable('none', cause);
    } finally {
      clearTimeout(timer);
    }
  }
}
