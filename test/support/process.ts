import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A process started by a test, without input and with piped output. */
export type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A test and its processes, which are killed when it ends. */
interface Scope {
  readonly title: string;
  readonly children: Set<Child>;
  isOver: boolean;
}

const newScope = (title: string): Scope => ({ title, children: new Set(), isOver: false });

/** Identifies the test of asynchronous code, even after the test has timed out. */
const scopes = new AsyncLocalStorage<Scope | undefined>();
/** For processes started outside a test: in a `before` hook, or in a script. */
const wholeRun = newScope('the run');
let current = wholeRun;
process.on('exit', () => {
  for (const child of [...wholeRun.children, ...current.children]) killGroup(child);
});

/** Must be called synchronously before a test, so that its body inherits the scope. */
export function beginTest(title: string): void {
  current = newScope(title);
  scopes.enterWith(current);
}

/** Kills all processes of the test. A body that continues after a timeout cannot start more. */
export async function endTest(): Promise<void> {
  const { children } = current;
  current.isOver = true;
  await Promise.all(
    [...children].map(async (child) => {
      const exited = once(child, 'exit');
      killGroup(child);
      await exited;
    }),
  );
}

/** Must be called synchronously after {@link endTest}: hooks between tests belong to the run. */
export function leaveTest(): void {
  current = wholeRun;
  scopes.enterWith(undefined);
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user. Requires root. */
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a process that is killed at the end of its test. Tests start all processes with this function. PORT
 * defaults to 0, so servers listen on a free port.
 */
export function start(command: string, args: readonly string[], options: StartOptions = {}): Child {
  const scope = scopes.getStore() ?? wholeRun;
  if (scope.isOver) throw new Error(`"${scope.title}" is over and cannot start ${command}.`);
  const child = spawn(command, args, {
    ...options,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', PORT: '0', ...options.env },
    // Its own process group, so that its children are killed too.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  scope.children.add(child);
  child.once('exit', () => scope.children.delete(child));
  child.once('error', () => scope.children.delete(child));
  return child;
}

/** Kills a process and its children without a warning. */
function killGroup({ pid, exitCode, signalCode }: Child, signal = 'SIGKILL'): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(process.platform === 'win32' ? pid : -pid, signal);
}

export interface Outcome {
  /** null if a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams, interleaved as they arrived. */
  readonly output: string;
}

/** Collects the output of a process until it exits. An exit code other than 0 is not an error. */
export function outcomeOf(child: Child): Promise<Outcome> {
  const said = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      said.output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...said }));
  });
}

/** Runs a script under the Node that runs the tests. */
export function node(args: readonly string[], options?: StartOptions): Promise<Outcome> {
  return outcomeOf(start(process.execPath, args, options));
}

/** Runs the npm that runs the tests, with their Node, or else the npm on the PATH. */
export function npm(args: readonly string[], options: StartOptions = {}): Promise<Outcome> {
  const cli = process.env.npm_execpath;
  // Print the usual messages, even if `npm --silent` runs the tests.
  const talking = { ...options, env: { npm_config_loglevel: 'notice', ...options.env } };
  return cli?.endsWith('.js')
    ? node([cli, ...args], talking)
    : outcomeOf(start('npm', args, talking));
}
