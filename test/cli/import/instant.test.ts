import { expect } from 'chai';
import { createInstant } from '../../../src/cli/import/instant.ts';
import { expectGenerated } from '../../docs/markdown.ts';

const berlin = { timeZone: 'Europe/Berlin' };
const noZone =
  /^"[^"]+" has no time zone: in a transform, instant\(value, \{ timeZone: 'UTC' \}\) sets one\.$/;
const noTime = / is not a time like 2026-11-21T09:30:00Z, /;

type Case = readonly [value: unknown, is: string | RegExp, inBerlin?: string | RegExp];

/** The result without a time zone, and with Berlin's if that differs. docs/moving-in.md shows these. */
const shown: Readonly<Record<string, readonly Case[]>> = {
  'ISO 8601': [
    ['2019-06-15T10:05:00.123Z', '2019-06-15T10:05:00.123Z'],
    ['2019-06-15T10:05+02:00', '2019-06-15T08:05:00.000Z'],
    ['20190615T100500Z', '2019-06-15T10:05:00.000Z'],
    ['2019-06-15', noZone, '2019-06-14T22:00:00.000Z'],
  ],
  SQL: [
    ['2019-06-15 10:05:00+02', '2019-06-15T08:05:00.000Z'],
    ['2013-04-09 18:20:39', noZone, '2013-04-09T16:20:39.000Z'],
    ['20130409182039', noZone, '2013-04-09T16:20:39.000Z'],
  ],
  'an hour that the clock skips': [['2019-03-31 02:30:00', noZone, '2019-03-31T01:30:00.000Z']],
  'an hour that it shows twice': [['2019-10-27 02:30:00', noZone, '2019-10-27T00:30:00.000Z']],
  'mails and feeds': [
    ['Fri, 30 Mar 2012 11:18:03 +0000', '2012-03-30T11:18:03.000Z'],
    ['Fri, 30 Mar 2012 11:18:03 EST', '2012-03-30T16:18:03.000Z'],
    ['1 Apr 2012 11:18 GMT', '2012-04-01T11:18:00.000Z'],
  ],
  JavaScript: [['Fri Mar 30 2012 11:18:03 GMT+0100 (CET)', '2012-03-30T10:18:03.000Z']],
  'seconds since 1970': [[1175714200, '2007-04-04T19:16:40.000Z']],
  milliseconds: [[1560593100123, '2019-06-15T10:05:00.123Z']],
  'anything else': [
    [2019, noTime],
    [43631.5, noTime],
    ['15.06.2019', noTime],
    ['06/15/2019', noTime],
    ['2019-02-30', noTime],
  ],
};

const others: readonly Case[] = [
  ['2019-06-15t10:05:00,5z', '2019-06-15T10:05:00.500Z'],
  ['2019-06-15 10:05:00 -0130', '2019-06-15T11:35:00.000Z'],
  [' 2019-06-15 10:05 UTC ', '2019-06-15T10:05:00.000Z'],
  ['2019-01-15 10:05', noZone, '2019-01-15T09:05:00.000Z'],
  ['20190615', noZone, '2019-06-14T22:00:00.000Z'],
  [20130409182039, noZone, '2013-04-09T16:20:39.000Z'],
  ['2019-0615', noTime],
  ['20191315', noTime],
  ['Fri, 30 Mar 2012 11:18:03 -0530', '2012-03-30T16:48:03.000Z'],
  ['Fri, 30 Mar 2012 11:18:03 +0000 (UTC)', '2012-03-30T11:18:03.000Z'],
  ['fri, 30 mar 2012 11:18:03 pdt', '2012-03-30T18:18:03.000Z'],
  ['30 Mar 2012 11:18:03 Z', '2012-03-30T11:18:03.000Z'],
  ['Fri, 30 Mar 2012 11:18:03 GMT+0100', '2012-03-30T10:18:03.000Z'],
  ['Sun, 01 Apr 2012 11:18:03', noTime],
  ['Fri, 31 Feb 2012 11:18:03 +0000', noTime],
  ['Fri, 30 Moo 2012 11:18:03 +0000', noTime],
  ['Fri, 30 Mar 2012 11:18:03 XYZ', noTime],
  ['Fri, 30 Mar 2012 11:18:03 +2500', noTime],
  ['1175714200', '2007-04-04T19:16:40.000Z'],
  [1175714200.25, '2007-04-04T19:16:40.250Z'],
  ['1560593100123', '2019-06-15T10:05:00.123Z'],
  // Numbers from 1990 to 2099 alone are times.
  [631152000, '1990-01-01T00:00:00.000Z'],
  [631151999, noTime],
  [4102444799999, '2099-12-31T23:59:59.999Z'],
  [4102444800000, noTime],
  [99999999999, noTime],
  [-1175714200, noTime],
  [1e17, noTime],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  ['0000-00-00 00:00:00', noTime],
  ['soon', noTime],
  ['', noTime],
  [null, noTime],
  [undefined, noTime],
  [{ $date: '2019-01-01T00:00:00Z' }, noTime],
];

/** The table of docs/moving-in.md. */
function timesTable(): string {
  const rows = Object.entries(shown).flatMap(([form, cases]) =>
    cases.map(([value, is, inBerlin = is], i) => {
      const time = typeof inBerlin === 'string' ? `\`${inBerlin}\`` : 'rejected';
      const zone = is === inBerlin ? '' : ', with the time zone `Europe/Berlin`';
      return `| ${i === 0 ? form : ''} | \`${value}\` | ${time}${zone} |`;
    }),
  );
  return ['| Form | Example | Time |', '|---|---|---|', ...rows].join('\n');
}

describe('instant()', () => {
  for (const [value, is, inBerlin = is] of [...Object.values(shown).flat(), ...others]) {
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

  it('is described in docs/moving-in.md (UPDATE_DOCS=1 rewrites the table)', () => {
    expectGenerated('times', 'test/cli/import/instant.test.ts', timesTable());
  });

  it('rejects an unknown time zone', async () => {
    const instant = await createInstant();
    expect(() => instant('2019-06-15 10:05', { timeZone: 'Berlin' })).to.throw(/Invalid time zone/);
  });

  it('quotes the beginning of what it cannot read', async () => {
    const instant = await createInstant();
    expect(() => instant('x'.repeat(1000))).to.throw(/^"x{59}… is not a time/);
  });
});
