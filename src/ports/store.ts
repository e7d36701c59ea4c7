/// <reference lib="esnext.disposable" preserve="true" />
import type { PostRepository } from './post-repository.ts';
import type { UserRepository } from './user-repository.ts';

/** Where records are kept: the two repositories, and the life of what is behind them. */
export interface Store extends AsyncDisposable {
  readonly users: UserRepository;
  readonly posts: PostRepository;

  /**
   * Fulfilled when the store can serve right now.
   *
   * @throws RostrumError `store-unavailable`
   */
  ready(): Promise<void>;

  /**
   * Lets the changes that were called for before come to their end, as if nothing had happened (or
   * for as long as the store says that it waits for them), then frees what it holds. Closing again
   * does nothing, at the same time too. `Symbol.asyncDispose` does the same.
   */
  close(): Promise<void>;
}
