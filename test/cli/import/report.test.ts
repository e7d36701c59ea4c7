import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Refusals } from '../../../src/cli/import/refusals.ts';
import { outcomeOf } from '../../support/process.ts';
import { rostrum, startCommand } from '../../support/server.ts';
import { refusalOf } from '../refusal.ts';
import { authors, columns, postLines, postsCsv } from './cms.ts';
import { Imports, lines, text } from './imports.ts';

/** Rows of CSV without a comma or a line feed in any cell but the last. */
const rowsOf = (csv: string) => csv.trimEnd().split('\n');

describe('rostrum import: what a person is told', function () {
  this.timeout(60_000);
  const imports = new Imports();
  const map = ['post_title=title', 'post_author=authorId', 'post_content=body', 'hits=views'];
  const options = [
    ...['--as', 'posts', '--keep-ids', '--time-zone', 'Europe/Berlin'],
    ...[...map, 'ID=id', 'post_date=createdAt'].flatMap((name) => ['--map', name]),
    ...['--type', 'views=number'],
  ];
  const run = (path: string, ...more: string[]) =>
    rostrum('import', path, '--store', imports.url, ...more);

  it('is 20 lines of refusals at most, and the report has every refused row', async () => {
    const users = imports.write(text(authors(30)), 'users.json');
    const added = await run(users, '--as', 'users', '--keep-ids', '--skip-invalid');
    expect([added.code, added.stdout.split('\n')[0]]).to.deep.equal([
      2,
      'users[2] /name too-short: The field "name" must have at least 1 character.',
    ]);
    const [rows, bad] = [600, 95];
    const posts = imports.write(postsCsv(rows, bad, 30), 'posts.csv');
    const report = join(imports.folder, 'bad.csv');

    const tried = await run(posts, ...options, '--dry-run', '--skip-invalid');
    const { code, stdout } = await run(posts, ...options, '--report', report, '--skip-invalid');
    expect([tried.code, code]).to.deep.equal([2, 2]);
    const shown = stdout.trimEnd().split('\n');
    expect(shown).to.have.length(24);
    expect(shown.slice(0, 6)).to.deep.equal([
      'line 2 /title required: The field "title" is required.',
      'line 14 /authorId unknown: The author is unknown: no user has this id. (and 18 posts of this author)',
      'line 26 /createdAt invalid: A time must be like 2026-11-21T09:30:00Z or 2026-11-21 09:30:00.',
      'line 38 /views type: The field "views" must be a number, such as 1000.5.',
      'line 50 invalid: It has more or fewer cells than the first line.',
      'line 62 /title required: The field "title" is required.',
    ]);
    // 19 refusals by themselves, and 19 in one chain.
    expect(shown[20]).to.equal(`… and 57 more; ${report} has all`);
    expect(shown[21]).to.match(/^Added 0 users and 505 posts; refused 95 records \(19 × /);
    const wouldAdd = stdout.replace('Added', 'Would add').replace(report, '--report FILE');
    expect(tried.stdout).to.equal(wouldAdd);

    const refused = readFileSync(report, 'utf8');
    expect(rowsOf(refused)[0]).to.equal(`refused_place,refused_reasons,${columns}`);
    expect([...refused.matchAll(/^line (\d+),/gm)].map(([, line]) => Number(line))).to.eql(
      Array.from({ length: bad }, (_, n) => 2 + 12 * n),
    );
    expect(refused.match(/,one cell too many$/gm)).to.have.length(19);
    // Rows that are mended in the report can be imported from there.
    const mended = refused.replaceAll('0000-00-00 00:00:00', '2020-02-02 02:02:02');
    const left = ['--map', 'refused_place=', '--map', 'refused_reasons=', '--skip-invalid'];
    const again = await run(imports.write(mended, 'mended.csv'), ...options, ...left);
    expect(again.stdout).to.match(/\nAdded 0 users and 19 posts; refused 76 records /);
  });

  it('is one line for posts whose author is refused', async () => {
    const users = Array.from({ length: 25 }, (_, n) => ({ id: n, name: n % 2 ? `U${n}` : '' }));
    const posts = Array.from({ length: 100 }, (_, n) => ({ title: 'P', authorId: n % 25 }));
    const path = imports.write(text({ users, posts: [...posts, { title: '', authorId: 0 }] }));
    const { code, stdout, stderr } = await run(path);
    const shown = stdout.trimEnd().split('\n');
    expect(shown).to.have.length(14);
    expect(shown[0]).to.equal(
      'users[0] /name too-short: The field "name" must have at least 1 character. (and 4 posts of this author)',
    );
    expect(shown.at(-1)).to.match(/^posts\[100\] \/authorId unknown: .* \/title too-short: /);
    expect([code, stderr.trimEnd().split('\n').at(-1)]).to.deep.equal([
      2,
      'Nothing is added, because 66 of 126 records are refused (53 × /authorId unknown, ' +
        '13 × /name too-short, 1 × /title too-short): fix them, or use --skip-invalid to add the others.',
    ]);
    expect(imports.countOf('users')).to.equal(0);
  });

  it('has what cannot be read in its file, of JSON Lines and of CSV', async () => {
    const given = `${[...postLines(2)].join('')}{"title":\n{"title":["a, b"]}\n`;
    const path = imports.write(given, 'posts.jsonl');
    const [jsonl, csv] = ['bad.jsonl', 'bad.CSV'].map((name) => join(imports.folder, name));
    for (const report of [jsonl ?? '', csv ?? '']) {
      expect((await run(path, '--as', 'posts', '--report', report)).code).to.equal(2);
    }
    const found = readFileSync(jsonl ?? '', 'utf8')
      .trimEnd()
      .split('\n');
    const [broken, wrong] = found.map((line) => JSON.parse(line));
    expect(broken).to.deep.include({ place: 'line 3', content: '{"title":' });
    expect(broken.reasons[0]).to.include({ pointer: '', code: 'invalid' });
    expect(wrong).to.deep.equal({
      place: 'line 4',
      reasons: [
        { pointer: '/title', code: 'type', message: 'The field "title" must be a string.' },
      ],
      content: { title: ['a, b'] },
    });
    const rows = readFileSync(csv ?? '', 'utf8').split('\n');
    expect([rows.length, rows[0], rows[2]]).to.deep.equal([
      4,
      'refused_place,refused_reasons,refused_content',
      'line 4,"/title type: The field ""title"" must be a string.","{""title"":[""a, b""]}"',
    ]);
  });

  it('refuses a report over another file, or with another name, and adds nothing', async () => {
    const path = imports.write(lines([{ name: 'A' }]), 'users.jsonl');
    const others = [
      imports.write('name\nA\n', 'mine.csv'),
      imports.write(lines([{ place: 'Berlin', reasons: [] }]), 'mine.jsonl'),
    ];
    for (const report of [path, ...others]) {
      const there = await run(path, '--as', 'users', '--report', report);
      expect(there.stderr).to.equal(
        `The file ${report} exists: remove it, or choose another name.\n`,
      );
    }
    const named = await run(path, '--as', 'users', '--report', 'bad.txt');
    expect(named.stderr).to.equal('--report "bad.txt" is not named like bad.csv or bad.jsonl.\n');
    expect(imports.countOf('users')).to.equal(0);
  });

  it('writes a report anew, but never over what it imports', async () => {
    const path = imports.write(lines([{ name: 'A' }, { name: ' ' }, { name: '' }]), 'users.jsonl');
    for (const name of ['again.csv', 'again.jsonl']) {
      const report = join(imports.folder, name);
      for (const more of [['--dry-run'], ['--dry-run'], []]) {
        const earlier = existsSync(report) ? readFileSync(report, 'utf8') : undefined;
        const { stderr } = await run(path, '--as', 'users', '--report', report, ...more);
        expect(stderr).to.match(/^Nothing is added/);
        if (earlier) expect(readFileSync(`${report}.old`, 'utf8')).to.equal(earlier);
        const refused = readFileSync(report, 'utf8');
        expect(refused.match(/line \d/g)).to.deep.equal(['line 2', 'line 3']);
        const mended = await run(report, '--as', 'users', '--report', report);
        expect(mended.stderr).to.match(/exists: remove it/);
        expect(readFileSync(report, 'utf8')).to.equal(refused);
      }
    }
  });

  it('has in its report what was refused when it is interrupted', async () => {
    const all = Array.from({ length: 40_000 }, (_, n) => ({ id: n, title: n % 2 ? 'A' : ' ' }));
    const path = imports.write(lines(all), 'posts.jsonl');
    const report = join(imports.folder, 'so-far.jsonl');
    const child = startCommand([
      ...['import', path, '--as', 'posts', '--keep-ids', '--skip-invalid'],
      ...['--store', imports.url, '--report', report],
    ]);
    const ended = outcomeOf(child);
    const before = imports.countOf('posts');
    while (imports.countOf('posts') === before) await sleep(5);
    child.kill('SIGINT');
    const { code, stdout } = await ended;
    expect(code).to.equal(1);
    expect(stdout).to.contain(`… and 19,980 more; ${report} has all`);
    expect(rowsOf(readFileSync(report, 'utf8'))).to.have.length(20_000);
  });

  it('reads publishedAt as a time, tells of a wrong one once, and knows columns without a cell', async () => {
    const csv = 'title,when,author,hits\nA,2019-06-15 10:05:00,,\nB,soon,,\n';
    const path = imports.write(csv, 'times.csv');
    const map = ['when=publishedAt', 'author=authorId'].flatMap((name) => ['--map', name]);
    const options = ['--as', 'posts', ...map, '--type', 'hits=number', '--skip-invalid'];
    const zoned = await run(path, ...options, '--time-zone', 'Europe/Berlin');
    expect(zoned.stdout.split('\n').slice(0, 2)).to.deep.equal([
      'line 3 /publishedAt invalid: A time must be like 2026-11-21T09:30:00Z or 2026-11-21 09:30:00.',
      'Added 0 users and 1 post; refused 1 record (1 × /publishedAt invalid)',
    ]);
    const here = await run(path, ...options);
    expect(here.stdout).to.match(/one without an offset needs --time-zone/);
    const misspelt = await run(path, ...options, '--map', 'authr=authorId');
    expect(misspelt.stderr).to.match(/no record has the field of --map "authr=authorId"/);
    const typed = ['--keep-ids', '--map', 'when=createdAt', '--type', 'createdAt=time'];
    const once = await run(path, '--as', 'posts', ...typed, '--time-zone', 'Europe/Berlin');
    expect(once.stderr).to.contain('(1 × /createdAt invalid)');
  });

  it('leaves an earlier report alone where the store cannot be opened', async () => {
    const path = imports.write(lines([{ name: ' ' }]), 'users.jsonl');
    const report = join(imports.folder, 'kept.jsonl');
    await run(path, '--as', 'users', '--report', report);
    const before = readFileSync(report, 'utf8');
    const nowhere = `sqlite:${join(path, 'in-a-file.db')}`;
    const failed = await rostrum(
      'import',
      path,
      '--as',
      'users',
      '--report',
      report,
      '--store',
      nowhere,
    );
    expect(failed.code).to.equal(1);
    expect([readFileSync(report, 'utf8'), existsSync(`${report}.old`)]).to.deep.equal([
      before,
      false,
    ]);
  });

  it('makes no file for a store that is not there, on a dry run', async () => {
    const path = imports.write(lines([{ name: 'A' }]), 'users.jsonl');
    const { code, stdout } = await run(path, '--as', 'users', '--dry-run');
    expect([code, stdout.split('\n')[0]]).to.deep.equal([0, 'Would add 1 user and 0 posts']);
    expect(() => readFileSync(imports.dataFile)).to.throw(/ENOENT/);
  });

  it('is a line a record, whatever the record has', () => {
    const refusals = new Refusals();
    const issue = { pointer: '/a\n\u001b[2J', code: 'key', message: 'No.' } as const;
    const about = { given: undefined, content: undefined, list: 'users' } as const;
    refusals.add({ ...about, place: 'users[0]', issues: Array.from({ length: 5 }, () => issue) });
    refusals.add({ ...about, place: 'users[1]', issues: [{ ...issue, pointer: 'x'.repeat(999) }] });
    const [first = '', second = '', end] = refusals.take(undefined).split('\n');
    const shown = '/a\\u{a}\\u{1b}[2J key: No.';
    expect(first).to.equal(`users[0] ${shown} ${shown} ${shown} (and 2 more reasons)`);
    expect([second.length, end]).to.deep.equal([401, '']);
  });
});

describe('rostrum import: texts', () => {
  const imports = new Imports();

  it('are times as databases write them', async () => {
    const cases: [written: string, kept: string | undefined, inBerlin: string | undefined][] = [
      ['2019-06-15T10:05:00.123Z', '2019-06-15T10:05:00.123Z', '2019-06-15T10:05:00.123Z'],
      ['2019-06-15 10:05:00+02', '2019-06-15T08:05:00.000Z', '2019-06-15T08:05:00.000Z'],
      ['2019-06-15 10:05:00 -0130', '2019-06-15T11:35:00.000Z', '2019-06-15T11:35:00.000Z'],
      ['2019-06-15 10:05 UTC', '2019-06-15T10:05:00.000Z', '2019-06-15T10:05:00.000Z'],
      ['2019-06-15 10:05:00', undefined, '2019-06-15T08:05:00.000Z'],
      ['2019-01-15 10:05', undefined, '2019-01-15T09:05:00.000Z'],
      ['2019-06-15', undefined, '2019-06-14T22:00:00.000Z'],
      // The clock went from 2 to 3, and at the end of summer once more from 2 on.
      ['2019-03-31 02:30:00', undefined, '2019-03-31T01:30:00.000Z'],
      ['2019-10-27 02:30:00', undefined, '2019-10-27T00:30:00.000Z'],
      ['0000-00-00 00:00:00', undefined, undefined],
      ['2019-02-30 10:05:00', undefined, undefined],
      ['1560593100', undefined, undefined],
      ['15.06.2019 10:05', undefined, undefined],
    ];
    const users = cases.map(([createdAt], id) => ({ id, name: 'A', createdAt }));
    for (const [column, timeZone] of [
      [1, undefined],
      [2, 'Europe/Berlin'],
    ] as const) {
      imports.refused = [];
      const given = {
        as: 'users',
        keepIds: true,
        skipInvalid: true,
        ...(timeZone && { timeZone }),
      };
      const { good } = await imports.run(users, { ...given, as: 'users', dryRun: true });
      const refused = cases.flatMap((one, n) => (one[column] ? [] : [n]));
      expect(imports.refused).to.deep.equal(refused.map((n) => `users[${n}] /createdAt invalid`));
      expect(good.users).to.equal(cases.length - refused.length);
    }
    await imports.run(users, {
      ...{ as: 'users', keepIds: true, skipInvalid: true, timeZone: 'Europe/Berlin' },
    });
    const { users: held } = await imports.held();
    const kept = new Map(held.map(({ id, createdAt }) => [Number(id), createdAt]));
    expect(cases.map((_, n) => kept.get(n))).to.deep.equal(cases.map(([, , time]) => time));
  });

  it('are numbers, booleans and times where that is said', async () => {
    const type = ['posts.views=number', 'live=boolean', 'at=time'];
    const csv = 'title,views,live,at\nA, 12.5 ,1,2019-06-15 10:05:00Z\nB,,false,\nC,0,true,\n';
    await imports.run(csv, { file: 'a.csv', as: 'posts', type });
    const found = (await imports.held()).posts.map(({ views, live, at }) => ({ views, live, at }));
    expect(found).to.have.deep.members([
      { views: 12.5, live: true, at: '2019-06-15T10:05:00.000Z' },
      { views: undefined, live: false, at: undefined },
      { views: 0, live: true, at: undefined },
    ]);
    const wrong = 'title,views,live,at\nA,010,yes,now\nB,"1,5",constructor,x\nC,1e999,0,\n';
    await refusalOf(imports.run(wrong, { file: 'a.csv', as: 'posts', type }));
    expect(imports.refused).to.deep.equal([
      ...['line 2 /views type', 'line 2 /live type', 'line 2 /at invalid'],
      ...['line 3 /views type', 'line 3 /live type', 'line 3 /at invalid'],
      'line 4 /views number-range',
    ]);
    for (const [sentence, ...given] of [
      [/^--type "views=int" is not like views=number .*number, boolean, time\.$/, 'views=int'],
      [/no record has the field of --type "veiws=number"/, 'veiws=number'],
    ] as const) {
      expect(await refusalOf(imports.run([{ title: 'A' }], { as: 'posts', type: given }))).to.match(
        sentence,
      );
    }
    const zone = await rostrum('import', 'a.csv', '--time-zone', 'Berlin');
    expect(zone.stderr).to.contain('The value must be a time zone, such as Europe/Berlin.');
  });
});
