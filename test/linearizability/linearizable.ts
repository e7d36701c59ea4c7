/** Two fields of a record, by which each change can be told from all others. */
export interface Fields {
  readonly a: string;
  readonly b: string;
}

/** A request for one record. All POSTs for it have one idempotency key and one body. */
export interface Input {
  readonly method: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE';
  readonly fields?: Partial<Fields>;
  /** The version that `If-Match` names. */
  readonly only?: number | undefined;
}

export interface Output {
  readonly status: number;
  readonly id?: string;
  readonly version?: number;
  readonly fields?: Fields;
  readonly replayed?: boolean;
}

/** One call of a client, in a history of many. */
export interface Operation {
  readonly input: Input;
  /** Undefined when the client does not know: it took effect at any time after its begin, or never. */
  readonly output: Output | undefined;
  /** Where it began and ended, in the order of all begins and ends; without an output, at no end. */
  readonly begin: number;
  readonly end: number;
}

/** A record of the contract, as a register with versions. */
interface State {
  /** 0 before the record is there. */
  readonly version: number;
  /** Undefined when no client was told. */
  readonly id: string | undefined;
  readonly fields: Fields;
  readonly isDeleted: boolean;
}

/**
 * True if the history is linearizable: some order of the operations explains every output, and no
 * operation comes before one that had ended when it began. The search is that of Wing and Gong, with
 * a memory of what was tried (Lowe, "Testing for linearizability", 2017).
 *
 * @param first what a POST makes
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
      // What fits here and changes nothing may come first in every order that goes on from here.
      if (isUnchanged) return false;
    }
    return false;
  };
  return search({ version: 0, id: undefined, fields: first, isDeleted: false });
}

/** @returns the state afterwards; undefined when the operation has no such output in this state */
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
