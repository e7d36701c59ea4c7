import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runProgram } from '../../src/cli/program.ts';
import { rostrum } from '../support/server.ts';
import { failureOf } from './failure.ts';

describe('rostrum key', function () {
  this.timeout(60_000);
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-key-'));
    file = join(folder, 'keys');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const key = (...args: string[]) => rostrum('key', ...args, '--auth-keys', file);

  it('prints a token once without storing it, and lists and revokes its key', async () => {
    const scopes = 'users:read,posts:write:own';
    const about = ['--subject', 'u1', '--expires', '90d', '--name', 'The app'];
    const made = await key('create', '--scopes', scopes, ...about);
    expect([made.code, made.stdout]).to.satisfy(
      ([code, text]: [number, string]) => code === 0 && /^rk_[0-9a-f]{12}_[\w-]{43}\n$/.test(text),
    );
    const [, id = '', secret = ''] = made.stdout.trim().split(/^rk_([^_]+)_/);
    expect(made.stderr).to.include(id).and.not.include(secret);
    expect(readFileSync(file, 'utf8')).not.to.include(secret);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).to.equal(0o600);

    const [head = '', row = '', end] = (await key('list')).stdout.split('\n');
    expect(head.split(/ +/)).to.eql(['ID', 'CREATED', 'EXPIRES', 'SUBJECT', 'SCOPES', 'NAME']);
    const [, created = '', expires = '', ...more] = row.split(/ {2,}/);
    expect([row.split(' ')[0], ...more, end]).to.deep.equal([id, 'u1', scopes, 'The app', '']);
    const minutes = (ms: number) => new Date(ms).toISOString().replace(/:[^:]*$/, 'Z');
    const now = Date.now();
    expect([minutes(now - 60_000), minutes(now)]).to.include(created);
    const in90Days = now + 90 * 24 * 3_600_000;
    expect([minutes(in90Days - 60_000), minutes(in90Days)]).to.include(expires);
    expect(['NAME', 'SCOPES'].map((name) => head.indexOf(name))).to.deep.equal([
      row.indexOf('The app'),
      row.indexOf(scopes),
    ]);

    expect(await key('revoke', id)).to.include({ code: 0, stdout: `Revoked key ${id}\n` });
    expect((await key('list')).stdout).to.equal('');
  });

  const refused: [RegExp, ...string[]][] = [
    [
      /^--scopes has "users:reed", which is not a scope\. Scopes are users:read, /,
      'create',
      '--scopes',
      'posts:read, users:reed',
    ],
    [/^--scopes has "", which is not a scope/, 'create', '--scopes', ''],
    [/^Required option '--scopes <list>' not specified\. See rostrum key create/, 'create'],
    [
      /^--expires must be a time in the future/,
      'create',
      '--scopes',
      'users:read',
      '--expires',
      '1y',
    ],
    [/^--expires must be/, 'create', '--scopes', 'users:read', '--expires', '2001-01-01'],
    [/^--expires must be/, 'create', '--scopes', 'users:read', '--expires', '0d'],
    [/^--expires must be/, 'create', '--scopes', 'users:read', '--expires', '2127-02-30'],
    [
      /^--expires must be/,
      'create',
      '--scopes',
      'users:read',
      '--expires',
      '2127-02-30T10:00+02:00',
    ],
    [
      /^The scope posts:write:own needs a user: .* --subject/,
      ...['create', '--scopes', 'users:read,posts:write:own'],
    ],
    [/^--name must be/, 'create', '--scopes', 'users:read', '--name', 'two\nlines'],
    [/^--name must be/, 'create', '--scopes', 'users:read', '--name', ' '],
    [/^--subject must be/, 'create', '--scopes', 'users:read', '--subject', ''],
    [/^There is no key file/, 'list'],
    [/^There is no key file/, 'revoke', 'x'],
  ];
  for (const [sentence, ...args] of refused) {
    it(`rejects ${args.join(' ')}`, async () => {
      const said = await failureOf(runProgram(['key', ...args, '--auth-keys', file]));
      expect(said)
        .to.match(sentence)
        .and.match(/^[^\n]*\.$/);
    });
  }

  it('says that the folder of the key file is missing', async () => {
    const path = join(folder, 'none', 'keys');
    const creation = runProgram(['key', 'create', '--scopes', 'users:read', '--auth-keys', path]);
    expect(await failureOf(creation)).to.equal(
      `There is no folder ${join(folder, 'none')}: make it first.`,
    );
  });

  it('requires a key file and a subcommand', async () => {
    expect(await failureOf(runProgram(['key', 'list']))).to.match(/--auth-keys/);
    const said = await failureOf(runProgram(['key', 'create']));
    expect(said).to.match(
      /^Required option '--auth-keys <file>' and '--scopes <list>' not specified\. See [^.]+\.$/,
    );
    expect(await failureOf(runProgram(['key']))).to.match(/create, list, revoke/);
    expect(await failureOf(runProgram(['key', 'show']))).to.match(/show|arguments/);
    writeFileSync(file, 'no key\n', { mode: 0o600 });
    expect(await failureOf(runProgram(['key', 'list', '--auth-keys', file]))).to.match(/^Line 1 /);
  });
});
