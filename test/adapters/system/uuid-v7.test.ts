import { expect } from 'chai';
import { createUuidV7, uuidV7 } from '../../../src/adapters/system/uuid-v7.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids', () => {
  it('are UUIDs of version 7 and variant 10 (RFC 9562)', () => {
    for (let i = 0; i < 1000; i++) expect(uuidV7.next()).to.match(form);
  });

  it('start with the time', () => {
    const ids = createUuidV7(() => 0x0123456789ab);
    expect(ids.next().slice(0, 14)).to.equal('01234567-89ab-');
  });

  for (const [when, step] of [
    ['within a millisecond', 0],
    ['if the clock is set back', -1],
    ['over time', 1],
  ] as const) {
    it(`increase ${when}`, () => {
      let ms = Date.now();
      const ids = createUuidV7(() => (ms += step));
      let last = '';
      for (let n = 0; n < 20_000; n++) {
        const id = ids.next();
        expect(id).to.match(form);
        expect(id > last, `${last} < ${id}`).to.equal(true);
        last = id;
      }
    });
  }

  it('differ from each other in about half of their random bits', () => {
    const ids = createUuidV7(() => 0);
    const random = () => BigInt(`0x${ids.next().replaceAll('-', '').slice(17)}`);
    const bits = (value: bigint) => value.toString(2).replaceAll('0', '').length;
    let differing = 0;
    for (let n = 0; n < 1000; n++) differing += bits(random() ^ random());
    expect(differing / 1000).to.be.within(28, 32); // Of 60 bits. Fails by chance once in 10^50 runs.
  });
});
