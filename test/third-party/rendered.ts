import { expect } from 'chai';
import {
  createElement,
  type FunctionComponent,
  type ReactElement,
  type ReactNode,
  useEffect,
} from 'react';
import { create } from 'react-test-renderer';
import { withVariable } from '../support/with-variable.ts';

/** A React hook rendered in a component, without a browser. */
export interface Rendered<T> extends Disposable {
  /** The last result of the hook. */
  readonly current: T;
  /** Waits until the result matches. Throws with the last result after 5 seconds. */
  until(done: (result: T) => boolean): Promise<T>;
}

/** @param wrap wraps the component in the contexts that the hook needs */
export async function renderHook<T>(
  useHook: () => T,
  wrap: (child: ReactNode) => ReactElement,
): Promise<Rendered<T>> {
  const results: T[] = [];
  const Component: FunctionComponent = () => {
    const result = useHook();
    useEffect(() => void results.push(result));
    return null;
  };
  const root = create(wrap(createElement(Component)));
  async function until(done: (result: T) => boolean): Promise<T> {
    for (const end = Date.now() + 5000; Date.now() < end; ) {
      const last = results.at(-1);
      if (last !== undefined && done(last)) return last;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`the hook ended with ${JSON.stringify(results.at(-1))}`);
  }
  await until(() => true);
  return {
    get current() {
      return results.at(-1) as T;
    },
    until,
    [Symbol.dispose]: () => root.unmount(),
  };
}

/**
 * Runs the tests of a block in development mode, in which frameworks validate the results of a data
 * provider. Fails if they log warnings or errors.
 *
 * @param expected returns true for console messages to ignore
 */
export function inDevelopment(expected: (said: unknown) => boolean): void {
  const { error, warn } = console;
  let said: unknown[] = [];
  withVariable('NODE_ENV', 'development');
  beforeEach(() => {
    said = [];
    console.error = console.warn = (first: unknown) => said.push(first);
  });
  afterEach(() => {
    Object.assign(console, { error, warn });
    const known = (one: unknown) =>
      expected(one) || String(one).startsWith('react-test-renderer is deprecated');
    expect(said.filter((one) => !known(one))).to.deep.equal([]);
  });
}
