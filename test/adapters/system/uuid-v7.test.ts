import { expect } from 'chai';
import { uuidV7 } from '../../../src/adapters/system/uuid-v7.ts';

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('ids', () => {
  const { now } = Date;
  afterEach(() => {
    Date.now = now;
  });

  it('are UUIDs of version 7 and variant 10 (RFC 9562)', () => {
    for (let i = 0; i < 1000; i++) expect(uuidV7.next()).to.match(form);
  });

  it('begin with the time', () => {
    const ms = Date.now() + 1000;
    Date.now = () => ms;
    expect(uuidV7.next().replace('-', '').slice(0, 12)).to.equal(ms.toString(16).padStart(12, '0'));
  });

  for (const [when, step] of [
    ['in one millisecond', 0],
    ['while the clock is set back', -1],
    ['as time goes on', 1],
  ] as const) {
    it(`grow ${when}`, () => {
      let ms = Date.now() + 10_000;
      Date.now = () => (ms += step);
      const ids = Array.from({ length: 20_000 }, () => uuidV7.next());
      for (const [i, id] of ids.entries()) {
        expect(id).to.match(form);
        if (i > 0) expect(id > (ids[i - 1] as string), `${ids[i - 1]} < ${id}`).to.equal(true);
      }
    });
  }

  it('of one time do not tell each other', () => {
    const ms = Date.now() + 20_000;
    Date.now = () => ms;
    const ends = Array.from({ length: 1000 }, () => uuidV7.next().slice(19));
    expect(new Set(ends).size).to.equal(ends.length);
  });
});
