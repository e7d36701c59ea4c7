import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from './support/free-port.ts';
import { outcomeOf, start } from './support/process.ts';
import { repository } from './support/repository-copy.ts';
import { program, rostrum, startCommand, startServer } from './support/server.ts';
import { until, untilServed } from './support/until.ts';

describe('the program', function () {
  this.timeout(60_000);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-main-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('logs its start, whether it created the data file, and its shutdown', async () => {
    for (const created of [true, undefined]) {
      const store = `sqlite:${join(folder, 'new', 'rostrum.db')}`;
      const child = startCommand(['--store', store, '--port', '0']);
      const ended = outcomeOf(child);
      await once(createInterface({ input: child.stdout }), 'line');
      child.kill();
      const { stderr } = await ended;
      const log = stderr.trimEnd().split('\n');
      const [begin, ...rest] = log
        .map((line) => JSON.parse(line))
        .filter(({ level }) => level === 'info');
      expect(begin).to.deep.include({ msg: 'ready to serve', store });
      expect(begin.created).to.equal(created);
      expect(rest.at(-1).msg).to.match(/^shutting down/);
    }
  });

  it('prints at startup if the data file and its folder are new', async () => {
    const made = join(folder, 'typo');
    for (const [name, note] of [
      ['typo/rostrum.db', ` (new and empty, in the new folder ${made})`],
      ['typo/rostrum.db', ''],
      ['typo/other.db', ' (new and empty)'],
    ] as const) {
      // Secrets read from files often end with a line feed.
      const STORE_URL = `sqlite:${join(folder, name)}\n`;
      const child = start(process.execPath, [program], { env: { STORE_URL, PORT: '0' } });
      const ended = outcomeOf(child);
      const [line] = await once(createInterface({ input: child.stdout }), 'line');
      child.kill();
      await ended;
      expect(line.replace(/^.* on /, '')).to.equal(`${STORE_URL.trim()}${note}`);
    }
    expect(readdirSync(made).filter((name) => /\s/.test(name))).to.deep.equal([]);
  });

  it('serves requests even if its output and log cannot be written', async () => {
    const port = String(await freePort());
    const script = 'exec "$0" "$@" > /dev/full 2> /dev/full';
    const args = [program, '--store', 'memory:', '--port', port];
    const child = start('sh', ['-c', script, process.execPath, ...args], { cwd: repository });
    const users = () => fetch(`http://127.0.0.1:${port}/api/v1/users`);
    await untilServed(users);
    for (let n = 0; n < 10; n += 1) {
      expect((await users()).status).to.equal(200);
      await sleep(30); // Gives each request its own write to the log.
    }
    const ended = outcomeOf(child);
    child.kill();
    expect((await ended).code).to.equal(0);
  });

  it('exits with 0 on SIGTERM, SIGINT and SIGHUP', async () => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      const server = await startServer('--store', 'memory:');
      expect(await server.stop(signal)).to.equal(0);
    }
  });

  it('exits immediately on a second signal, but ignores a duplicate within milliseconds', async () => {
    const server = await startServer('--store', 'memory:');
    const { port } = new URL(server.address);
    const busy = connect(Number(port), '127.0.0.1').on('error', () => {});
    const head =
      'POST /api/v1/users HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    busy.write(`${head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n`);
    expect(String(await once(busy, 'data'))).to.contain('100 Continue');
    const isStopping = async () => (await fetch(`${server.address}/readyz`)).status === 503;
    server.process.kill('SIGINT');
    await sleep(20);
    server.process.kill('SIGINT');
    await until(isStopping, 'the server is stopping');
    await sleep(1000);
    expect(await isStopping()).to.equal(true);
    expect(await server.stop('SIGTERM')).to.equal(null);
    busy.destroy();
  });

  it('shuts down cleanly if npm start receives SIGTERM', async () => {
    const args = ['start', '--silent', '--', '--store', 'memory:'];
    const child = start('npm', args, { cwd: repository });
    const ended = outcomeOf(child);
    const [ready] = await once(createInterface({ input: child.stdout }), 'line');
    const address = /^Rostrum is ready at (\S+)/.exec(ready)?.[1];
    child.kill('SIGTERM'); // Only npm, like a service manager.
    const { code, stderr } = await ended;
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain('shutting down');
    expect(await fetch(`${address}/livez`).catch(() => 'gone')).to.equal('gone');
  });

  it('prints its version', async () => {
    expect(await rostrum('--version')).to.deep.include({ code: 0, stdout: '0.1.0\n' });
  });

  it('prints one sentence about a wrong setting', async () => {
    await using busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as { port: number };
    const file = join(folder, 'file');
    writeFileSync(file, 'not a database, and long enough to be looked at as one '.repeat(20));
    const cases: [RegExp, ...string[]][] = [
      [/^--host is .* and --port is \d+, but .* address already in use .*\n$/, '--port', `${port}`],
      [/^--host is "203\.0\.113\.1", .*\n$/, '--host', '203.0.113.1'],
      [/^--store is "postgres:\/\/a:\*\*\*@h\/d": .*\n$/, '--store', 'postgres://a:b@h/d'],
      [/^--store is "sqlite:.*": .*\n$/, '--store', `sqlite:${file}`],
      [/^--store is "sqlite:.*": .*\n$/, '--store', `sqlite:${join(file, 'x.db')}`],
    ];
    for (const [sentence, ...args] of cases) {
      const store = args.includes('--store') ? [] : ['--store', 'memory:'];
      const { code, stdout, stderr } = await rostrum(...store, ...args);
      expect(stderr, args.join(' ')).to.match(sentence);
      expect([code, stdout]).to.deep.equal([1, '']);
    }
  });
});
