import type { Operation, Specification } from './linearizable.ts';

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

export type RecordOperation = Operation<Input, Output>;

interface State {
  /** 0 before the record is there. */
  readonly version: number;
  /** Undefined when nobody was told. */
  readonly id: string | undefined;
  readonly fields: Fields;
  readonly isDeleted: boolean;
}

/** A record of the contract, as a register with versions. */
export function recordSpecification(first: Fields): Specification<State, Input, Output> {
  return {
    initial: { version: 0, id: undefined, fields: first, isDeleted: false },
    key: ({ version, id, fields, isDeleted }) =>
      `${version} ${id} ${fields.a} ${fields.b} ${isDeleted}`,
    apply(state, input, output) {
      const [next, expected] = respond(state, input, first);
      if (output === undefined) return next;
      if (output.id !== undefined && next.id !== undefined && output.id !== next.id)
        return undefined;
      const isExpected =
        output.status === expected.status &&
        output.version === expected.version &&
        output.fields?.a === expected.fields?.a &&
        output.fields?.b === expected.fields?.b &&
        output.replayed === expected.replayed;
      return isExpected ? { ...next, id: next.id ?? output.id } : undefined;
    },
  };
}

function respond(state: State, input: Input, first: Fields): [State, Output] {
  const { version, isDeleted } = state;
  const { method, only } = input;
  if (method === 'POST') {
    const output = { status: 201, version: 1, fields: first };
    if (version > 0) return [state, { ...output, replayed: true }];
    return [
      { ...state, version: 1 },
      { ...output, replayed: false },
    ];
  }
  if (version === 0 || isDeleted) return [state, { status: 404 }];
  if (method === 'GET') return [state, { status: 200, version, fields: state.fields }];
  if (only !== undefined && only !== version) return [state, { status: 412, version }];
  if (method === 'DELETE') return [{ ...state, isDeleted: true }, { status: 200 }];
  const fields = { ...state.fields, ...input.fields };
  const isSame = fields.a === state.fields.a && fields.b === state.fields.b;
  const changed = isSame ? state : { ...state, fields, version: version + 1 };
  return [changed, { status: 200, version: changed.version, fields }];
}
