import { expect } from 'chai';
import { isLinearizable } from './linearizable.ts';
import { type Input, type Output, type RecordOperation, recordSpecification } from './record.ts';

const first = { a: 'first', b: 'first' };

/** What began and ended when; unknown without an output. */
function operation(begin: number, end: number, input: Input, output?: Output): RecordOperation {
  return { begin, end: output === undefined ? Infinity : end, input, output };
}

const post: Input = { method: 'POST' };
const created: Output = { status: 201, id: '1', version: 1, fields: first, replayed: false };
const replayed: Output = { ...created, replayed: true };
const get: Input = { method: 'GET' };
const made = operation(0, 1, post, created);

const patch = (a: string, only?: number): Input => ({ method: 'PATCH', fields: { a }, only });
const is = (a: string, version: number, b = 'first'): Output => ({
  status: 200,
  version,
  fields: { a, b },
});

function holds(...operations: RecordOperation[]): boolean {
  return isLinearizable(operations, recordSpecification(first));
}

describe('the linearizability of a record', () => {
  it('holds of operations one after another', () => {
    const deleted = operation(6, 7, { method: 'DELETE' }, { status: 200 });
    const gone = operation(8, 9, get, { status: 404 });
    const changed = operation(2, 3, patch('x'), is('x', 2));
    expect(holds(made, changed, operation(4, 5, get, is('x', 2)), deleted, gone)).to.equal(true);
  });

  it('lets operations at the same time take effect in either order', () => {
    const changed = operation(2, 5, patch('x'), is('x', 2));
    expect(holds(made, changed, operation(3, 4, get, is('first', 1)))).to.equal(true);
    expect(holds(made, changed, operation(3, 4, get, is('x', 2)))).to.equal(true);
  });

  it('does not hold of a read of what was replaced before it began', () => {
    const changed = operation(2, 3, patch('x'), is('x', 2));
    expect(holds(made, changed, operation(4, 5, get, is('first', 1)))).to.equal(false);
  });

  it('does not hold of two reads that go back, while the change is under way', () => {
    const changed = operation(2, 9, patch('x'), is('x', 2));
    const [newer, older] = [operation(3, 4, get, is('x', 2)), operation(5, 6, get, is('first', 1))];
    expect(holds(made, changed, newer, older)).to.equal(false);
  });

  it('does not hold of a lost update', () => {
    const one = operation(2, 4, patch('x'), is('x', 2));
    const other: Input = { method: 'PATCH', fields: { b: 'y' } };
    expect(holds(made, one, operation(3, 5, other, is('first', 3, 'y')))).to.equal(false);
    expect(holds(made, one, operation(3, 5, other, is('x', 3, 'y')))).to.equal(true);
  });

  it('does not hold of two changes of one version', () => {
    const one = operation(2, 4, patch('x', 1), is('x', 2));
    expect(holds(made, one, operation(3, 5, patch('y', 1), is('y', 2)))).to.equal(false);
    const refused: Output = { status: 412, version: 2 };
    expect(holds(made, one, operation(3, 5, patch('y', 1), refused))).to.equal(true);
  });

  it('does not hold of two creations under one key', () => {
    expect(holds(made, operation(2, 3, post, created))).to.equal(false);
    expect(holds(made, operation(2, 3, post, { ...replayed, id: '2' }))).to.equal(false);
    expect(holds(made, operation(2, 3, post, replayed))).to.equal(true);
  });

  it('lets an unknown outcome take effect late, or never, and once', () => {
    const unknown = operation(2, 3, patch('x'));
    const before = operation(4, 5, get, is('first', 1));
    const after = operation(6, 7, get, is('x', 2));
    expect(holds(made, unknown, before)).to.equal(true);
    expect(holds(made, unknown, before, after)).to.equal(true);
    expect(holds(made, unknown, after, operation(8, 9, get, is('x', 3)))).to.equal(false);
    expect(holds(made, unknown, after, operation(8, 9, get, is('first', 1)))).to.equal(false);
  });

  it('does not let an unknown outcome take effect before it began', () => {
    expect(holds(made, operation(4, 5, patch('x')), operation(2, 3, get, is('x', 2)))).to.equal(
      false,
    );
  });
});
