/** Two fields of a record, whose values identify each change. */
export interface Fields {
  readonly a: string;
  readonly b: string;
}

/** A request for a record. All POSTs have the same idempotency key and body. */
export interface Input {
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly fields?: Partial<Fields>;
  /** The version in `If-Match`. */
  readonly only?: number | undefined;
}

export interface Output {
  readonly status: number;
  readonly id?: string;
  readonly version?: number;
  readonly fields?: Fields;
  readonly replayed?: boolean;
}

/** A call of a client in a history. */
export interface Operation {
  readonly input: Input;
  /** Undefined if unknown: the call took effect at any time after its beginning, or never. */
  readonly output: Output | undefined;
  /** Its position in the order of all beginnings and ends. Without an output, the end is infinite. */
  readonly begin: number;
  readonly end: number;
}

/** A record, modeled as a register with versions. */
interface State {
  /** 0 before the record exists. */
  readonly version: number;
  /** Undefined until a client received it. */
  readonly id: string | undefined;
  readonly fields: Fields;
  readonly isDeleted: boolean;
}

/**
 * Returns true if the history is linearizable: some order of the operations explains every output, and
 * preserves the order of operations that did not overlap. Uses the search of Wing and Gong with memoization
 * (Lowe, "Testing for linearizability", 2017).
 *
 * @param first the fields of a new record
 */
export function isLinearizable(history: readonly Operation[], first: Fields): boolean {
  const tried = new Set<string>();
  const done = history.map(() => false);

  const search = (state: State): boolean => {
    const before = JSON.stringify(state);
    const at = `${done.map(Number).join('')} ${before}`;
    if (tried.has(at)) return false;
    tried.add(at);
    const missing = history.filter((operation, i) => !done[i] && operation.output !== undefined);
    if (missing.length === 0) return true;
    const firstEnd = Math.min(...missing.map(({ end }) => end));
    for (const [i, { input, output, begin }] of history.entries()) {
      if (done[i] || begin > firstEnd) continue;
      const next = apply(state, input, output, first);
      if (next === undefined) continue;
      const isUnchanged = JSON.stringify(next) === before;
      if (isUnchanged && output === undefined) continue;
      done[i] = true;
      if (search(next)) return true;
      done[i] = false;
      // An operation that fits and changes nothing can come first in every order that continues from here.
      if (isUnchanged) return false;
    }
    return false;
  };
  return search({ version: 0, id: undefined, fields: first, isDeleted: false });
}

/** Returns the next state, or undefined if the operation cannot have this output in this state. */
function apply(state: State, input: Input, output: Output | undefined, first: Fields) {
  const [next, { status, version, fields, replayed }] = respond(state, input, first);
  if (output === undefined) return next;
  const { id = next.id } = output;
  const isExpected =
    id === (next.id ?? id) &&
    output.status === status &&
    output.version === version &&
    output.fields?.a === fields?.a &&
    output.fields?.b === fields?.b &&
    output.replayed === replayed;
  return isExpected ? { ...next, id } : undefined;
}

function respond(state: State, { method, only, fields }: Input, first: Fields): [State, Output] {
  const { version, isDeleted } = state;
  if (method === 'POST') {
    const output = { status: 201, version: 1, fields: first, replayed: version > 0 };
    return [version > 0 ? state : { ...state, version: 1 }, output];
  }
  if (version === 0 || isDeleted) return [state, { status: 404 }];
  if (method === 'GET') return [state, { status: 200, version, fields: state.fields }];
  if (only !== undefined && only !== version) return [state, { status: 412, version }];
  if (method === 'DELETE') return [{ ...state, isDeleted: true }, { status: 200 }];
  const { a, b } = { ...state.fields, ...fields };
  const isSame = a === state.fields.a && b === state.fields.b;
  const changed = isSame ? state : { ...state, fields: { a, b }, version: version + 1 };
  return [changed, { status: 200, version: changed.version, fields: { a, b } }];
}
