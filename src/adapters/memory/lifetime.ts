import { storeUnavailable } from '../../domain/errors.ts';

/** Whether the store is still open. Nothing is ever under way when it ends: all is synchronous. */
export class Lifetime {
  #ended = false;

  /** @throws RostrumError `store-unavailable` */
  check(): void {
    if (this.#ended) throw storeUnavailable('none');
  }

  end(): void {
    this.#ended = true;
  }
}
