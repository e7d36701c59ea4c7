/** One call of a client, in a history of many. */
export interface Operation<Input, Output> {
  readonly input: Input;
  /** Undefined when the client does not know: it took effect at any time after its begin, or never. */
  readonly output: Output | undefined;
  /** Where it began and ended, in the order of all begins and ends; without an output, at no end. */
  readonly begin: number;
  readonly end: number;
}

/** What an object does when its operations come one after another. */
export interface Specification<State, Input, Output> {
  readonly initial: State;
  /**
   * @param output undefined for any
   * @returns the state afterwards; undefined when the operation has no such output in this state
   */
  apply(state: State, input: Input, output: Output | undefined): State | undefined;
  /** One text for each state. */
  key(state: State): string;
}

/**
 * Whether there is an order of the operations that explains every output, in which no operation
 * comes before one that had ended when it began. The search is that of Wing and Gong, with a memory
 * of what was tried (Lowe, "Testing for linearizability", 2017).
 */
export function isLinearizable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { initial, apply, key }: Specification<State, Input, Output>,
): boolean {
  const tried = new Set<string>();
  const done = history.map(() => false);

  const search = (state: State): boolean => {
    const before = key(state);
    const at = `${done.map(Number).join('')} ${before}`;
    if (tried.has(at)) return false;
    tried.add(at);
    const missing = history.filter((operation, i) => !done[i] && operation.output !== undefined);
    if (missing.length === 0) return true;
    const firstEnd = Math.min(...missing.map(({ end }) => end));
    for (const [i, { input, output, begin }] of history.entries()) {
      if (done[i] || begin > firstEnd) continue;
      const next = apply(state, input, output);
      if (next === undefined) continue;
      const isUnchanged = key(next) === before;
      if (isUnchanged && output === undefined) continue;
      done[i] = true;
      if (search(next)) return true;
      done[i] = false;
      // What fits here and changes nothing may come first in every order that goes on from here.
      if (isUnchanged) return false;
    }
    return false;
  };
  return search(initial);
}
