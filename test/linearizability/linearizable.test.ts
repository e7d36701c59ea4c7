import { expect } from 'chai';
import { type Input, isLinearizable, type Operation, type Output } from './linearizable.ts';

const first = { a: 'first', b: 'first' };

/** What began and ended when; unknown without an output. */
function call(begin: number, end: number, input: Input, output?: Output): Operation {
  return { begin, end: output === undefined ? Infinity : end, input, output };
}

const post: Input = { method: 'POST' };
const created: Output = { status: 201, id: '1', version: 1, fields: first, replayed: false };
const replayed: Output = { ...created, replayed: true };
const get: Input = { method: 'GET' };
const patch = (a: string, only?: number): Input => ({ method: 'PATCH', fields: { a }, only });
const patchB: Input = { method: 'PATCH', fields: { b: 'y' } };
const is = (a: string, version: number, b = 'first'): Output => {
  return { status: 200, version, fields: { a, b } };
};
const changed = call(2, 5, patch('x'), is('x', 2));
const condition = call(2, 4, patch('x', 1), is('x', 2));
const refused: Output = { status: 412, version: 2 };
const unknown = call(2, 3, patch('x'));
const [before, after] = [call(4, 5, get, is('first', 1)), call(6, 7, get, is('x', 2))];

/** What happens to a record after its creation, where an order explains it. */
const explained: Record<string, readonly Operation[]> = {
  'operations one after another': [
    ...[changed, call(6, 7, get, is('x', 2)), call(8, 9, { method: 'DELETE' }, { status: 200 })],
    call(10, 11, get, { status: 404 }),
  ],
  'a read of the old during a change': [changed, call(3, 4, get, is('first', 1))],
  'a read of the new during a change': [changed, call(3, 4, get, is('x', 2))],
  'two updates': [changed, call(3, 6, patchB, is('x', 3, 'y'))],
  'a change of one version that is refused': [condition, call(3, 5, patch('y', 1), refused)],
  'a repeat under one key': [call(2, 3, post, replayed)],
  'an unknown change that never came': [unknown, before],
  'an unknown change that came late': [unknown, before, after],
};

/** And where none does. */
const unexplained: Record<string, readonly Operation[]> = {
  'a read of the old after a change': [changed, call(6, 7, get, is('first', 1))],
  'two reads that go back during a change': [
    ...[call(2, 9, patch('x'), is('x', 2)), call(3, 4, get, is('x', 2))],
    call(5, 6, get, is('first', 1)),
  ],
  'a lost update': [changed, call(3, 6, patchB, is('first', 3, 'y'))],
  'two changes of one version': [condition, call(3, 5, patch('y', 1), is('y', 2))],
  'two creations under one key': [call(2, 3, post, created)],
  'another record under one key': [call(2, 3, post, { ...replayed, id: '2' })],
  'an unknown change that came twice': [unknown, after, call(8, 9, get, is('x', 3))],
  'an unknown change that went': [unknown, after, call(8, 9, get, is('first', 1))],
  'an unknown change before it began': [call(6, 7, patch('x')), call(2, 3, get, is('x', 2))],
};

describe('the linearizability of a record', () => {
  for (const [holds, histories] of [
    [true, explained],
    [false, unexplained],
  ] as const) {
    for (const [name, operations] of Object.entries(histories)) {
      it(`${holds ? 'holds' : 'does not hold'} of ${name}`, () => {
        const history = [call(0, 1, post, created), ...operations];
        expect(isLinearizable(history, first)).to.equal(holds);
      });
    }
  }
});
