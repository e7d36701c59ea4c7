import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { outcomeOf } from '../../support/process.ts';
import { rostrum, startCommand } from '../../support/server.ts';
import { Imports, lines, text } from './imports.ts';

describe('rostrum import: messages and reports', function () {
  this.timeout(60_000);
  const imports = new Imports();
  const run = (path: string, ...more: string[]) =>
    rostrum('import', path, '--store', imports.url, ...more);
  const rowsOf = (path: string) =>
    readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));

  it('prints at most 20 rejected records, with their values, and writes all to the report', async () => {
    const cells = ['x@y z', '', 'a@b.c'];
    const rows = Array.from(
      { length: 60 },
      (_, n) => `U${n},${cells[n % 3]},${n % 3 === 2 ? 'dup' : ''}`,
    );
    const path = imports.write(`name,email,note\n${rows.join('\n')}\n`, 'users.csv');
    const report = join(imports.folder, 'bad.jsonl');
    const tried = await run(path, '--as', 'users', '--dry-run', '--skip-invalid');
    const { code, stdout } = await run(path, '--as', 'users', '--report', report, '--skip-invalid');
    expect([tried.code, code]).to.deep.equal([2, 2]);
    const shown = stdout.trimEnd().split('\n');
    expect(shown).to.have.length(25);
    expect(shown.slice(0, 3)).to.deep.equal([
      'line 2 /email invalid: The field "email" must be an email address. It is "x@y z".',
      'line 5 /email invalid: The field "email" must be an email address. It is "x@y z".',
      'line 7 /email taken: Another user already has this email address. It is "a@b.c".',
    ]);
    expect(shown[20]).to.equal(`… and 19 more; ${report} has all`);
    expect(shown[21]).to.equal('Added 21 users and 0 posts; rejected: 39');
    const wouldAdd = stdout.replace('Added', 'Would add').replace(report, '--report FILE');
    expect(tried.stdout).to.equal(wouldAdd);
    const rejected = rowsOf(report);
    expect(rejected).to.have.length(39);
    expect(rejected[0]).to.deep.equal({
      place: 'line 2',
      reasons: [
        {
          pointer: '/email',
          code: 'invalid',
          message: 'The field "email" must be an email address.',
        },
      ],
      content: { name: 'U0', email: 'x@y z', note: '' },
    });
  });

  it('exits with a sentence that says what to do', async () => {
    const users = [{ name: '' }, { name: 'A' }, { name: '' }];
    const lastLine = async (...args: Parameters<typeof run>) => {
      const { code, stderr } = await run(...args);
      expect(code).to.equal(2);
      return stderr.trimEnd().split('\n').at(-1);
    };
    expect(await lastLine(imports.write(text({ users })))).to.equal(
      'Nothing was added: 2 of 3 records rejected. Fix the file, or use --skip-invalid to add the others.',
    );
    expect(imports.countOf('users')).to.equal(0);
  });

  it('reports the text of unreadable lines, and rows before their transform', async () => {
    const path = imports.write('{"title":"A"}\n{"title":\n{"label":["a"]}\n', 'posts.jsonl');
    const transform = imports.write(
      'export const posts = ({ label, title }) => ({ title: label ?? title });',
      't.mjs',
    );
    const report = join(imports.folder, 'bad.ndjson');
    const { code } = await run(path, '--transform', transform, '--report', report);
    const [broken, wrong] = rowsOf(report);
    expect([code, broken.place, broken.content]).to.deep.equal([2, 'line 2', '{"title":']);
    expect(broken.reasons[0]).to.include({ pointer: '', code: 'invalid' });
    expect(wrong).to.deep.equal({
      place: 'line 3',
      reasons: [
        { pointer: '/title', code: 'type', message: 'The field "title" must be a string.' },
      ],
      content: { label: ['a'] },
    });
  });

  it('never overwrites a file that is not a report, and adds nothing', async () => {
    const content = lines([{ name: 'A' }]);
    const path = imports.write(content, 'users.jsonl');
    const over = await run(path, '--as', 'users', '--report', path);
    expect(over.stderr).to.equal(
      `${path} exists and is not a report: choose another name for --report.\n`,
    );
    expect(readFileSync(path, 'utf8')).to.equal(content);
    const named = await run(path, '--as', 'users', '--report', 'bad.csv');
    expect(named.stderr).to.equal(
      '--report writes JSON Lines: use a name that ends in .jsonl, not "bad.csv".\n',
    );
    expect(imports.countOf('users')).to.equal(0);
  });

  it('overwrites an earlier report, but only once the store is open', async () => {
    const path = imports.write(lines([{ name: 'A' }, { name: ' ' }]), 'users.jsonl');
    const report = join(imports.folder, 'again.jsonl');
    const args = ['--as', 'users', '--report', report];
    await run(path, ...args);
    const earlier = `${readFileSync(report, 'utf8')}\n`;
    writeFileSync(report, earlier);
    const nowhere = `sqlite:${join(path, 'in-a-file.db')}`;
    expect((await rostrum('import', path, ...args, '--store', nowhere)).code).to.equal(1);
    expect(readFileSync(report, 'utf8')).to.equal(earlier);
    await run(path, ...args);
    expect(`${readFileSync(report, 'utf8')}\n`).to.equal(earlier);
  });

  it('reports what was rejected before an interruption', async () => {
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
    expect(rowsOf(report)).to.have.length(20_000);
  });

  it('creates no data file in a dry run', async () => {
    const path = imports.write(lines([{ name: 'A' }]), 'users.jsonl');
    const { code, stdout } = await run(path, '--as', 'users', '--dry-run');
    expect([code, stdout.split('\n')[0]]).to.deep.equal([0, 'Would add 1 user and 0 posts']);
    expect(() => readFileSync(imports.dataFile)).to.throw(/ENOENT/);
  });

  it('prints one short line for each record, whatever is in it', async () => {
    const wrong = { 'a\n\u001b[2J\0': 1, 'b\0': 1, 'c\0': 1, 'd\0': 1, 'e\0': 1 };
    const deep = Array.from({ length: 20 }, () => 'x'.repeat(60)).reduce<unknown>(
      (value, key) => ({ [key]: value }),
      1,
    );
    const path = imports.write(
      text([
        { name: 'A', ...wrong },
        { name: 'B', x: deep },
      ]),
    );
    const { stdout } = await run(path, '--as', 'users');
    const [first = '', second = '', ...end] = stdout.split('\n');
    expect(first).to.match(
      /^users\[0\] "A" \/a\\u\{a\}\\u\{1b\}\[2J\\u\{0\} key: .* \/e\\u\{0\} key: /,
    );
    expect([second.length, end]).to.deep.equal([501, ['']]);
  });
});
