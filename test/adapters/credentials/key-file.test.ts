import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  addKey,
  CredentialsError,
  KeyFile,
  listKeys,
  revokeKey,
} from '../../../src/adapters/credentials/index.ts';
import { callerOf } from '../../support/caller-of.ts';
import { node } from '../../support/process.ts';
import { until } from '../../support/until.ts';

describe('a key file', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-keys-'));
    path = join(folder, 'keys');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const log: string[] = [];
  const note = (_fields: object, message: string) => void log.push(message);
  const logger = { info: note, warn: note, error: note };

  it('returns the caller for a valid token only', async () => {
    const { token, key } = addKey(path, { scopes: ['users:read'], subject: 'u1' });
    const second = addKey(path, { scopes: [], name: 'Second' });
    const keys = new KeyFile(path);
    expect(await callerOf(keys, token)).to.deep.equal({
      name: `key:${key.id}`,
      subject: 'u1',
      scopes: new Set(['users:read']),
    });
    expect(await callerOf(keys, second.token)).to.include({ subject: null, label: 'Second' });
    const mixed = token.replace(key.id, second.key.id);
    for (const wrong of [
      '',
      'rk_',
      key.sha256,
      mixed,
      `${token}a`,
      ` ${token}`,
      token.slice(0, -1),
    ]) {
      expect(await callerOf(keys, wrong), wrong).to.equal(undefined);
    }
  });

  it('rejects a token whose key has a different id in the file', async () => {
    const { token, key } = addKey(path, { scopes: [] });
    writeFileSync(path, `${JSON.stringify({ ...key, id: 'another' })}\n`, { mode: 0o600 });
    expect(await callerOf(new KeyFile(path), token)).to.equal(undefined);
  });

  it('rejects expired keys', async () => {
    const add = (ms: number) =>
      addKey(path, { scopes: [], expires: new Date(Date.now() + ms).toISOString() });
    const [valid, expired] = [add(60_000), add(0)];
    const keys = new KeyFile(path);
    expect(await callerOf(keys, valid.token)).not.to.equal(undefined);
    expect(await callerOf(keys, expired.token)).to.equal(undefined);
  });

  it('is reloaded when it changes', async () => {
    const { token, key } = addKey(path, { scopes: [] });
    const keys = new KeyFile(path, logger);
    const late = addKey(path, { scopes: [] });
    await until(async () => (await callerOf(keys, late.token)) !== undefined, 'a key is added');
    chmodSync(path, 0o640);
    expect(revokeKey(path, key.id)).to.equal(true);
    expect(statSync(path).mode & 0o777).to.equal(0o640);
    expect(revokeKey(path, key.id)).to.equal(false);
    await until(async () => (await callerOf(keys, token)) === undefined, 'a key is revoked');
    expect(listKeys(path).map(({ id }) => id)).to.deep.equal([late.key.id]);
    expect(await callerOf(keys, late.token)).not.to.equal(undefined);
  });

  it('loses no changes from concurrent commands', async function () {
    this.timeout(60_000);
    const each = 15;
    const workers = Array.from({ length: 4 }, () =>
      Array.from({ length: each }, () => addKey(path, { scopes: [] }).key.id),
    );
    const module = new URL('../../../src/adapters/credentials/index.ts', import.meta.url).href;
    const program = `import { addKey, revokeKey } from '${module}';
      const [path, ...ids] = process.argv.slice(1);
      for (const id of ids) {
        if (!revokeKey(path, id)) throw new Error('not revoked: ' + id);
        process.stdout.write(addKey(path, { scopes: [] }).key.id + '\\n');
      }`;
    const outcomes = await Promise.all(
      workers.map((ids) => node(['--input-type=module', '--eval', program, path, ...ids])),
    );
    const made = outcomes.flatMap(({ stdout }) => stdout.trim().split('\n'));
    expect(made).to.have.lengthOf(workers.length * each);
    const left = listKeys(path).map(({ id }) => id);
    expect(left).to.have.members(made);
  });

  it('is only appended to, without temporary files', () => {
    const { key } = addKey(path, { scopes: [] });
    const before = readFileSync(path, 'utf8');
    expect(revokeKey(path, key.id)).to.equal(true);
    const after = readFileSync(path, 'utf8');
    expect(after).to.equal(`${before}${JSON.stringify({ id: key.id, revoked: true })}\n`);
    expect(readdirSync(folder)).to.deep.equal(['keys']);
  });

  it('ignores the last line until it ends with a line feed', async () => {
    const { token, key } = addKey(path, { scopes: [] });
    writeFileSync(path, JSON.stringify(key));
    log.length = 0;
    const keys = new KeyFile(path, logger);
    expect(log).to.deep.equal([
      'The last line of the key file does not count: it has no line feed.',
    ]);
    expect(await callerOf(keys, token)).to.equal(undefined);
    appendFileSync(path, '\n');
    await until(async () => (await callerOf(keys, token)) !== undefined, 'the line counts');
    appendFileSync(path, JSON.stringify({ id: key.id, revoked: true }));
    await sleep(1100);
    expect(await callerOf(keys, token)).not.to.equal(undefined);
    appendFileSync(path, '\n');
    await until(async () => (await callerOf(keys, token)) === undefined, 'the revocation counts');
  });

  it('keeps lines appended after a missing line feed, and rejects changes after a truncated line', () => {
    const { key } = addKey(path, { scopes: [] });
    const line = JSON.stringify({ ...key, id: 'other', sha256: '0'.repeat(64) });
    appendFileSync(path, line);
    const { key: last } = addKey(path, { scopes: [] });
    expect(listKeys(path).map(({ id }) => id)).to.deep.equal([key.id, 'other', last.id]);
    appendFileSync(path, line.slice(0, 30));
    const before = readFileSync(path, 'utf8');
    expect(() => revokeKey(path, key.id)).to.throw(CredentialsError, /last line .* is cut off/);
    expect(readFileSync(path, 'utf8')).to.equal(before);
  });

  it('accepts no new key if its permissions would make the server reject it', () => {
    if (process.platform === 'win32') return;
    addKey(path, { scopes: [] });
    chmodSync(path, 0o622);
    expect(() => addKey(path, { scopes: [] })).to.throw(CredentialsError, /chmod 600/);
  });

  it('keeps its keys if a new version is invalid, and logs that once', async () => {
    const { token } = addKey(path, { scopes: [] });
    const keys = new KeyFile(path, logger);
    log.length = 0;
    writeFileSync(path, 'not a key\n');
    await until(async () => {
      await callerOf(keys, token);
      return log.length > 0;
    }, 'the change is logged');
    await sleep(1100);
    expect(await callerOf(keys, token)).not.to.equal(undefined);
    expect(log).to.deep.equal(['Cannot reload the key file. The keys stay as they were.']);
  });

  it('is rejected with a clear message if missing, malformed or writable by others', () => {
    expect(() => new KeyFile(path)).to.throw(CredentialsError, /rostrum key create/);
    const { key } = addKey(path, { scopes: [] });
    chmodSync(path, 0o666);
    expect(() => new KeyFile(path)).to.throw(CredentialsError, /chmod 600/);
    chmodSync(path, 0o600);
    const other = { ...key, id: 'other', sha256: '0'.repeat(64) };
    const wrong = [
      { ...other, scopes: ['admin'] },
      { ...other, scopes: undefined },
      { ...other, sha256: 'x' },
      { ...other, subject: '' },
      { ...other, expires: 'tomorrow' },
      { ...other, created: '2026' },
      { ...other, name: 'a\u001b[2J' },
      { ...other, extra: true },
      { ...other, id: key.id },
      { ...other, sha256: key.sha256 },
      { id: 'other', revoked: true },
      { id: key.id, revoked: false },
      { ...key, revoked: true },
    ];
    const write = (line: object) =>
      writeFileSync(path, `${JSON.stringify(key)}\n${JSON.stringify(line)}\n`);
    write(other);
    expect(listKeys(path)).to.have.length(2);
    for (const line of wrong) {
      write(line);
      expect(() => new KeyFile(path), JSON.stringify(line)).to.throw(CredentialsError, /^Line 2 /);
    }
  });
});
