import type { Store } from '../ports/store.ts';
import { fail, quote, StoreFailure, storeFailure } from './assertions.ts';

/** The handle of each call in turn. It is irregular, so that calls in a pattern still reach both handles. */
const handleOfCall = [0, 1, 1, 0, 1, 0, 0, 1];

/** Observes the calls of a test, so that its failure can say what they were. */
export class Watch {
  readonly #failedCalls = new Map<unknown, string>();
  #last = () => 'none';

  /** The last call, with its arguments. */
  get last(): string {
    return this.#last();
  }

  /** Returns a store that forwards calls to one handle, or to two in turn. */
  over(one: Store, two: Store = one): Store {
    let calls = 0;
    return this.#member('', () => (handleOfCall[calls++ % handleOfCall.length] === 0 ? one : two));
  }

  /** Returns the failure of a test: what went wrong, and in which call. */
  explain(error: unknown): StoreFailure {
    const call = this.#failedCalls.get(error);
    let fault = `The suite is wrong, or a result of the store has another type: ${quote(error)}`;
    if (error instanceof StoreFailure) fault = error.message;
    else if (call) fault = storeFailure(`${call} ended in ${quote(error)}`).message;
    return new StoreFailure(`${fault} (the last call was ${this.last})`, { cause: error });
  }

  #member<T extends object>(path: string, of: () => T): T {
    const get = (_: T, key: string | symbol): unknown => {
      const target = of();
      const member: unknown = Reflect.get(target, key);
      const name = `${path}${String(key)}`;
      if (typeof member === 'function') {
        return (...values: unknown[]) =>
          this.call(
            () => `${name}(${values.map(quote).join(', ')})`,
            () => Reflect.apply(member, target, values) as Promise<unknown>,
          );
      }
      if (typeof member !== 'object' || member === null) return member;
      return this.#member(`${name}.`, () => Reflect.get(of(), key) as object);
    };
    return new Proxy({} as T, { get });
  }

  /** Makes a call, and keeps its name for {@link explain}. */
  call<T>(name: string | (() => string), call: () => Promise<T>): Promise<T> {
    const nameOf = () => (typeof name === 'string' ? name : name());
    this.#last = nameOf;
    try {
      return call().catch((error) => {
        this.#failedCalls.set(error, nameOf());
        throw error;
      });
    } catch (error) {
      fail(`${nameOf()} threw, or did not return a promise: ${quote(error)}`, error);
    }
  }
}
