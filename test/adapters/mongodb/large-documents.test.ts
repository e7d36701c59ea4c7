import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { LargeDocuments } from '../../../src/adapters/mongodb/connection/large-documents.ts';

const mebibyte = 1024 * 1024;

describe('large documents', () => {
  it('are parsed one after another, in order, with turns in between; small ones at once', async () => {
    const documents = new LargeDocuments();
    const begun: number[] = [];
    const work = [1, 2, 3].map((n) => documents.turn(n * mebibyte).then(() => begun.push(n)));
    await documents.turn(1000);
    const seen: number[] = [];
    for (let turns = 0; turns < 200; turns++) {
      seen.push(begun.length);
      await nextTurn();
    }
    await Promise.all(work);
    expect(begun).to.deep.equal([1, 2, 3]);
    for (const [count, turns] of [
      [1, 32],
      [2, 64],
    ] as const) {
      expect(seen.filter((length) => length === count)).to.have.length.within(turns - 4, turns + 4);
    }
  });

  it('leave room for more when they are parsed, or fail', async () => {
    const documents = new LargeDocuments();
    const reply = [new Uint8Array(16 * mebibyte)];
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const held = gates.map(({ promise }) => documents.hold(reply, () => promise).catch(String));
    let hasRoom = false;
    const room = documents.room().then(() => {
      hasRoom = true;
    });
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    expect(hasRoom).to.equal(false);
    gates[0]?.reject(new RangeError('not UTF-8'));
    await room;
    gates[1]?.resolve();
    expect(await Promise.all(held)).to.deep.equal(['RangeError: not UTF-8', undefined]);
    await documents.room();
  });
});
