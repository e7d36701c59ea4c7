import { expect } from 'chai';
import fc from 'fast-check';
import {
  addMs,
  earliestInstant,
  instantFromMs,
  latestInstant,
  nextInstant,
  parseRfc3339,
} from '../../src/domain/records/instant.ts';

function read(text: string): string | undefined {
  const parsed = parseRfc3339(text);
  return parsed && `${instantFromMs(parsed.ms)}${parsed.exact ? '' : '+'}`;
}

describe('instants', () => {
  it('reads RFC 3339 with any offset and any number of decimals', () => {
    expect(read('2026-11-21T09:30:00Z')).to.equal('2026-11-21T09:30:00.000Z');
    expect(read('2026-11-21t09:30:00.5z')).to.equal('2026-11-21T09:30:00.500Z');
    expect(read('2026-11-21T09:30:00+02:00')).to.equal('2026-11-21T07:30:00.000Z');
    expect(read('2026-11-21T09:30:00-02:30')).to.equal('2026-11-21T12:00:00.000Z');
    expect(read('2026-11-21T09:30:00.123000Z')).to.equal('2026-11-21T09:30:00.123Z');
    expect(read('2026-11-21T09:30:00.1239Z')).to.equal('2026-11-21T09:30:00.123Z+');
    expect(read('2016-12-31T23:59:60Z')).to.equal('2017-01-01T00:00:00.000Z');
    expect(read('2024-02-29T00:00:00Z')).to.equal('2024-02-29T00:00:00.000Z');
  });

  it('rejects texts that are not RFC 3339 date-times', () => {
    const times = '24:00:00Z 09:60:00Z 09:30:61Z 09:30:00+2:00 09:30:00+24:00 09:30Z 09:30:00';
    const days = '2026-02-30 2025-02-29 2026-13-01 +02026-11-21';
    for (const text of [
      ...['', '2026-11-21', '2026-11-21 09:30:00Z'],
      ...times.split(' ').map((time) => `2026-11-21T${time}`),
      ...days.split(' ').map((day) => `${day}T00:00:00Z`),
    ]) {
      expect(read(text), text).to.equal(undefined);
    }
  });

  it('reads back every instant that it writes', () => {
    const ms = fc.integer({ min: Date.parse(earliestInstant), max: Date.parse(latestInstant) });
    fc.assert(fc.property(ms, (value) => parseRfc3339(instantFromMs(value))?.ms === value));
  });

  it('stays within four-digit years', () => {
    expect(read('9999-12-31T23:59:59.999-01:00')).to.equal(latestInstant);
    expect(read('0000-01-01T00:00:00+01:00')).to.equal(earliestInstant);
    expect(addMs(latestInstant, 1)).to.equal(latestInstant);
  });

  it('advances by at least a millisecond when the clock stands still or steps back', () => {
    const last = '2026-11-21T09:30:00.000Z';
    expect(nextInstant(last, '2026-11-21T10:00:00.000Z')).to.equal('2026-11-21T10:00:00.000Z');
    expect(nextInstant(last, last)).to.equal('2026-11-21T09:30:00.001Z');
    expect(nextInstant(last, '2020-01-01T00:00:00.000Z')).to.equal('2026-11-21T09:30:00.001Z');
  });
});
