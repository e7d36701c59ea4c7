import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readable } from '../../../src/adapters/system/log-file.ts';
import { outcomeOf, start } from '../../support/process.ts';
import { repository } from '../../support/repository-copy.ts';

const writer = new URL('../../../src/adapters/system/logger.ts', import.meta.url).href;

/** Runs a program with a `logger`, and redirects its standard error to a file. */
async function run(program: string, file: string, level = 'info'): Promise<number | null> {
  const source = `import { createLogger } from '${writer}'; const logger = createLogger('${level}');
    const sleep = (ms) => new Promise((done) => setTimeout(done, ms)); ${program}`;
  const args = [
    '-c',
    'exec "$0" "$@" 2> "$LOG"',
    process.execPath,
    '--input-type=module',
    '--eval',
  ];
  const options = { cwd: repository, env: { LOG: file } };
  return (await outcomeOf(start('sh', [...args, source], options))).code;
}

describe('the log', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-log-'));
    file = join(folder, 'log');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const lines = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  it('is JSON lines with level names and ISO times, in order', async () => {
    const program = "for (let n = 0; n < 500; n++) logger[n % 50 ? 'info' : 'warn']({ n }, 'm');";
    expect(await run(program, file)).to.equal(0);
    expect(lines().map(({ n }) => n)).to.deep.equal(Array.from({ length: 500 }, (_, n) => n));
    expect(lines()[0]).to.include({ level: 'warn', msg: 'm' });
    expect(new Date(lines()[1].time).toISOString()).to.equal(lines()[1].time);
  });

  it('has the same format with and without an error', async () => {
    const program = `logger.info({ path: '/"\\u2028', ms: 0.1, gone: true }, 'flat');
      logger.info({}, 'empty'); logger.info({ ms: 0.1, err: new RangeError('no') }, 'deep');`;
    await run(program, file);
    const [flat, empty, deep] = lines();
    const times = [flat, empty, deep].map(({ time }) => new Date(time).toISOString());
    expect(times).to.deep.equal([flat.time, empty.time, deep.time]);
    const head = { level: 'info', time: flat.time };
    expect(flat).to.deep.equal({ ...head, path: '/"\u2028', ms: 0.1, gone: true, msg: 'flat' });
    expect(empty).to.deep.equal({ ...head, time: empty.time, msg: 'empty' });
    expect(Object.keys(deep)).to.deep.equal(['level', 'time', 'ms', 'err', 'msg']);
    expect(deep.err).to.include({ type: 'RangeError', message: 'no' });
  });

  it('contains its last lines if the process exits or crashes', async () => {
    expect(await run("logger.info({}, 'last'); process.exit(3);", file)).to.equal(3);
    expect(lines().map(({ msg }) => msg)).to.deep.equal(['last']);
    expect(await run("logger.info({}, 'last'); throw new Error('x');", file)).to.equal(1);
    expect(readFileSync(file, 'utf8')).to.contain('"msg":"last"');
  });

  it('does not keep a finished process alive if nobody reads it', async function () {
    if (process.platform === 'win32') this.skip();
    await outcomeOf(start('mkfifo', [file]));
    const reader = openSync(file, constants.O_RDWR | constants.O_NONBLOCK);
    const program = `for (let n = 0; n < 5000; n++) logger.info({ n }, 'x'.repeat(100));
      await sleep(200);`;
    try {
      expect(await run(program, file)).to.equal(0);
    } finally {
      closeSync(reader);
    }
  });

  it('is flushed immediately for warnings and errors', async () => {
    const kill = "await sleep(10); process.kill(process.pid, 'SIGKILL');";
    await run(`logger.info({}, 'a'); logger.warn({}, 'b'); ${kill}`, file);
    expect(lines().map(({ msg }) => msg)).to.deep.equal(['a', 'b']);
  });

  it('contains only lines of the configured level or above', async () => {
    const program = "logger.debug?.({ n: 1 }, 'd'); logger.info({}, 'i'); logger.warn({}, 'w');";
    for (const [level, names] of [
      ['debug', ['debug', 'info', 'warn']],
      ['info', ['info', 'warn']],
      ['warn', ['warn']],
      ['silent', []],
    ] as const) {
      writeFileSync(file, '');
      await run(`process.exitCode = logger.debug ? 1 : 0; ${program}`, file, level);
      expect(lines().map((line) => line.level)).to.deep.equal(names);
    }
    expect(await run('process.exitCode = logger.debug ? 1 : 0;', file, 'info')).to.equal(0);
  });

  it('is text at a terminal, with client input escaped', () => {
    const time = '2026-11-21T09:30:00.000Z';
    const odd = { path: '/\u001b[2J', agent: 'a b=c', name: 'José\u009b\u202e', n: 1 };
    expect(
      readable(`${JSON.stringify({ level: 'info', time, msg: 'request', ...odd })}\n`),
    ).to.equal(
      '09:30:00.000 INFO  "/\\u001b[2J" request agent="a b=c" name="José\\u{9b}\\u{202e}" n=1\n',
    );
    const ids = { requestId: 'r', traceId: 't' };
    const asked = { ...ids, code: 'internal', method: 'GET', path: '/api/v1/users' };
    const err = { message: 'no', stack: 'Error: no\n    at x' };
    const failed = { level: 'error', time, ...asked, ms: 2, err, msg: 'The request failed.' };
    expect(readable(JSON.stringify(failed))).to.equal(
      '09:30:00.000 ERROR GET /api/v1/users The request failed. code=internal ms=2 ' +
        'requestId=r traceId=t\nError: no\n    at x\n',
    );
  });

  it('never crashes the process if it cannot be written', async () => {
    const program = `for (let n = 0; n < 100; n++) { logger.error({ n }, 'm'); await sleep(1); }
      process.stdout.write('alive');`;
    expect(await run(program, '/dev/full')).to.equal(0);
  });
});
