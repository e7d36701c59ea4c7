import type { Store } from '../ports/store.ts';
import { fail, StoreFailure, textOf } from './assertions.ts';

/** Which handle each call goes to: neither every other call nor a run of calls has one to itself. */
const turns = [0, 1, 1, 0, 1, 0, 0, 1];

/** Sees the calls of a test, so that the test's failure can say what they did. */
export class Watch {
  /** The call that ended in an error, as a message names it. */
  readonly #calls = new Map<unknown, () => string>();
  #last = () => 'open';

  /** A store whose calls go to one handle, or to two in turn. */
  over(one: Store, two: Store = one): Store {
    let calls = 0;
    return this.#part('', () => (turns[calls++ % turns.length] === 0 ? one : two));
  }

  /** The error that a test ends in: what is wrong, who is right, and after which call. */
  explained(error: unknown): unknown {
    const call = this.#calls.get(error);
    let fault = `The suite is wrong, or what the store returned is unlike its type: ${textOf(error)}`;
    if (error instanceof StoreFailure) fault = error.message;
    else if (call) fault = `The store is wrong: ${call()} ended in ${textOf(error)}`;
    return new StoreFailure(`${fault} (the last call was ${this.#last()})`, { cause: error });
  }

  #part<T extends object>(path: string, of: () => T): T {
    const get = (_: T, key: string | symbol): unknown => {
      const target = of();
      const member: unknown = Reflect.get(target, key);
      const name = `${path}${String(key)}`;
      if (typeof member === 'function') {
        return (...values: unknown[]) =>
          this.#call(
            () => `${name}(${values.length > 0 ? textOf(values[0]) : ''})`,
            () => Reflect.apply(member, target, values),
          );
      }
      if (typeof member !== 'object' || member === null) return member;
      return this.#part(`${name}.`, () => Reflect.get(of(), key) as object);
    };
    return new Proxy({} as T, { get });
  }

  /** Every call has to return a promise: the `catch` of its caller sees no other error. */
  #call(name: () => string, call: () => Promise<unknown>): Promise<unknown> {
    this.#last = name;
    try {
      return call().catch((error) => {
        this.#calls.set(error, name);
        throw error;
      });
    } catch (error) {
      fail(`${name()} threw at once, or returned no promise: ${textOf(error)}`, error);
    }
  }
}
