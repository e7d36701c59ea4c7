import { expect } from 'chai';
import { createInstant } from '../../../src/cli/import/instant.ts';

const berlin = { timeZone: 'Europe/Berlin' };
const noZone =
  /^"[^"]+" has no time zone: in a transform, instant\(value, \{ timeZone: 'UTC' \}\) sets one\.$/;
const noTime = / is not a time like 2026-11-21T09:30:00Z, /;

/** The result without a time zone, and with Berlin's if that differs. */
const cases: readonly [value: unknown, is: string | RegExp, inBerlin?: string | RegExp][] = [
  ['2019-06-15T10:05:00.123Z', '2019-06-15T10:05:00.123Z'],
  ['2019-06-15t10:05:00,5z', '2019-06-15T10:05:00.500Z'],
  ['2019-06-15 10:05:00+02', '2019-06-15T08:05:00.000Z'],
  ['2019-06-15 10:05:00 -0130', '2019-06-15T11:35:00.000Z'],
  [' 2019-06-15 10:05 UTC ', '2019-06-15T10:05:00.000Z'],
  ['2013-04-09 18:20:39', noZone, '2013-04-09T16:20:39.000Z'],
  ['2019-01-15 10:05', noZone, '2019-01-15T09:05:00.000Z'],
  ['2019-06-15', noZone, '2019-06-14T22:00:00.000Z'],
  // An hour that the clock skipped, and one that it showed twice.
  ['2019-03-31 02:30:00', noZone, '2019-03-31T01:30:00.000Z'],
  ['2019-10-27 02:30:00', noZone, '2019-10-27T00:30:00.000Z'],
  ['Fri, 30 Mar 2012 11:18:03 +0000', '2012-03-30T11:18:03.000Z'],
  ['Fri, 30 Mar 2012 11:18:03 -0530', '2012-03-30T16:48:03.000Z'],
  ['1 Apr 2012 11:18 GMT', '2012-04-01T11:18:00.000Z'],
  ['Sun, 01 Apr 2012 11:18:03', noTime],
  [1175714200, '2007-04-04T19:16:40.000Z'],
  ['1175714200', '2007-04-04T19:16:40.000Z'],
  [1175714200.25, '2007-04-04T19:16:40.250Z'],
  [1560593100123, '2019-06-15T10:05:00.123Z'],
  ['1560593100123', '2019-06-15T10:05:00.123Z'],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  // Years, and day numbers of spreadsheets.
  [2019, noTime],
  ['20190615', noTime],
  [43631.5, noTime],
  [1e17, noTime],
  ['0000-00-00 00:00:00', noTime],
  ['2019-02-30 10:05:00', noTime],
  ['Fri, 31 Feb 2012 11:18:03 +0000', noTime],
  ['Fri, 30 Moo 2012 11:18:03 +0000', noTime],
  ['Fri, 30 Mar 2012 11:18:03 EST', noTime],
  ['15.06.2019 10:05', noTime],
  ['06/15/2019', noTime],
  ['soon', noTime],
  ['', noTime],
  [null, noTime],
  [undefined, noTime],
  [{ $date: '2019-01-01T00:00:00Z' }, noTime],
];

describe('instant()', () => {
  for (const [value, is, inBerlin = is] of cases) {
    it(`reads ${JSON.stringify(value)}, or says why not`, async () => {
      const instant = await createInstant();
      for (const [options, expected] of [
        [undefined, is],
        [berlin, inBerlin],
      ] as const) {
        const read = () => instant(value, options);
        if (typeof expected === 'string') expect(read()).to.equal(expected);
        else expect(read).to.throw(Error, expected);
      }
    });
  }

  it('rejects an unknown time zone', async () => {
    const instant = await createInstant();
    expect(() => instant('2019-06-15 10:05', { timeZone: 'Berlin' })).to.throw(/Invalid time zone/);
  });

  it('quotes the beginning of what it cannot read', async () => {
    const instant = await createInstant();
    expect(() => instant('x'.repeat(1000))).to.throw(/^"x{59}… is not a time/);
  });
});
