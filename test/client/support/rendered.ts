import { expect } from 'chai';
import { createElement, type FunctionComponent, type ReactElement, type ReactNode } from 'react';
import { act, create, type ReactTestRenderer } from 'react-test-renderer';

/** A hook that lives in a component, without a browser. */
export interface Rendered<T> extends Disposable {
  /** What the hook returned last. */
  readonly current: T;
  /** Does something to it, as a page would. */
  perform<Result>(action: (current: T) => Result | Promise<Result>): Promise<Result>;
  /** Waits until it returns what is asked for. @throws with what it returned after 5 seconds */
  until(done: (result: T) => boolean): Promise<T>;
}

/** @param wrap puts the component where the hook finds its contexts */
export async function renderHook<T>(
  useHook: () => T,
  wrap: (child: ReactNode) => ReactElement,
): Promise<Rendered<T>> {
  let current: T | undefined;
  const Component: FunctionComponent = () => {
    current = useHook();
    return null;
  };
  let root: ReactTestRenderer | undefined;
  await act(async () => {
    root = create(wrap(createElement(Component)));
  });
  return {
    get current() {
      return current as T;
    },
    async perform(action) {
      let result: Awaited<ReturnType<typeof action>> | undefined;
      await act(async () => {
        result = await action(current as T);
      });
      return result as Awaited<ReturnType<typeof action>>;
    },
    async until(done) {
      for (const end = Date.now() + 5000; Date.now() < end; ) {
        await act(() => new Promise((resolve) => setTimeout(resolve, 10)));
        if (current !== undefined && done(current)) return current;
      }
      throw new Error(`the hook ended with ${JSON.stringify(current)}`);
    },
    [Symbol.dispose]() {
      act(() => root?.unmount());
    },
  };
}

/**
 * Runs the tests of a block as a front end in development, where frameworks check what a data
 * provider returns. What they then say on the console is checked, and not shown.
 *
 * @param expected what they may say besides
 */
export function inDevelopment(expected: (said: unknown) => boolean): void {
  const { NODE_ENV: environment } = process.env;
  const { error, warn } = console;
  let said: unknown[] = [];
  before(() => {
    process.env.NODE_ENV = 'development';
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });
  });
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
  after(() => {
    Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
    if (environment === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = environment;
  });
}
