import { expect } from 'chai';
import { type Input, isLinearizable, type Operation, type Output } from './linearizable.ts';

const first = { a: 'first', b: 'first' };

/** Creates an operation. Without an output, its end is unknown. */
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

/** Operations after the creation of a record that some order explains. */
const explained: Record<string, readonly Operation[]> = {
  'sequential operations': [
    ...[changed, call(6, 7, get, is('x', 2)), call(8, 9, { method: 'DELETE' }, { status: 200 })],
    call(10, 11, get, { status: 404 }),
  ],
  'a read of the old value during a change': [changed, call(3, 4, get, is('first', 1))],
  'a read of the new value during a change': [changed, call(3, 4, get, is('x', 2))],
  'two updates': [changed, call(3, 6, patchB, is('x', 3, 'y'))],
  'a rejected change of an old version': [condition, call(3, 5, patch('y', 1), refused)],
  'a replayed creation': [call(2, 3, post, replayed)],
  'an unknown change that never took effect': [unknown, before],
  'an unknown change that took effect late': [unknown, before, after],
};

/** Operations that no order explains. */
const unexplained: Record<string, readonly Operation[]> = {
  'a read of the old value after a change': [changed, call(6, 7, get, is('first', 1))],
  'a read of the new value and then the old one during a change': [
    ...[call(2, 9, patch('x'), is('x', 2)), call(3, 4, get, is('x', 2))],
    call(5, 6, get, is('first', 1)),
  ],
  'a lost update': [changed, call(3, 6, patchB, is('first', 3, 'y'))],
  'two changes of the same version': [condition, call(3, 5, patch('y', 1), is('y', 2))],
  'two creations with one key': [call(2, 3, post, created)],
  'another record for the same key': [call(2, 3, post, { ...replayed, id: '2' })],
  'an unknown change that took effect twice': [unknown, after, call(8, 9, get, is('x', 3))],
  'an unknown change that was reverted': [unknown, after, call(8, 9, get, is('first', 1))],
  'an unknown change before it began': [call(6, 7, patch('x')), call(2, 3, get, is('x', 2))],
};

describe('isLinearizable', () => {
  for (const [holds, histories] of [
    [true, explained],
    [false, unexplained],
  ] as const) {
    for (const [name, operations] of Object.entries(histories)) {
      it(`returns ${holds} for ${name}`, () => {
        const history = [call(0, 1, post, created), ...operations];
        expect(isLinearizable(history, first)).to.equal(holds);
      });
    }
  }
});
