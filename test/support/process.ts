import { AsyncLocalStorage } from 'node:async_hooks';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A process that a test started; it reads nothing and its output is piped. */
export type Child = ChildProcessByStdio<null, Readable, Readable>;

/** A test, and the processes that end with it. */
interface Scope {
  readonly title: string;
  readonly children: Set<Child>;
  isOver: boolean;
}

const newScope = (title: string): Scope => ({ title, children: new Set(), isOver: false });

/** Follows a test's body through all that it awaits, also after the test has timed out. */
const scopes = new AsyncLocalStorage<Scope | undefined>();
/** Of what is started outside of a test: in a `before` hook, or in a script. */
const wholeRun = newScope('the run');
let current = wholeRun;
process.on('exit', () => {
  for (const child of [...wholeRun.children, ...current.children]) killGroup(child);
});

/** To be called synchronously before a test: a test's body inherits the scope. */
export function beginTest(title: string): void {
  current = newScope(title);
  scopes.enterWith(current);
}

/** Ends all processes of the test. A body that goes on after a time-out can start no more. */
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

/** To be called synchronously after {@link endTest}: hooks between tests belong to the run. */
export function leaveTest(): void {
  current = wholeRun;
  scopes.enterWith(undefined);
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another user, for root alone. */
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Starts a process that ends with its test at the latest. Every process that a test starts is
 * started here. Whatever runs in it listens on a free port unless it is told another one.
 */
export function start(command: string, args: readonly string[], options: StartOptions = {}): Child {
  const scope = scopes.getStore() ?? wholeRun;
  if (scope.isOver) throw new Error(`"${scope.title}" is over and may not start ${command}.`);
  const child = spawn(command, args, {
    ...options,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', PORT: '0', ...options.env },
    // A group of its own, so that what it started ends with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  scope.children.add(child);
  child.once('exit', () => scope.children.delete(child));
  child.once('error', () => scope.children.delete(child));
  return child;
}

/** Ends a process and what it started, as a power cut would. */
function killGroup({ pid, exitCode, signalCode }: Child, signal = 'SIGKILL'): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  process.kill(process.platform === 'win32' ? pid : -pid, signal);
}

export interface Outcome {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in the order in which they came. */
  readonly output: string;
}

/** Collects what a process writes until it ends. An exit code other than 0 is no error. */
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

/** The npm that runs the tests, under their Node; the one on the path otherwise. */
export function npm(args: readonly string[], options: StartOptions = {}): Promise<Outcome> {
  const cli = process.env.npm_execpath;
  // With its usual messages, also where `npm --silent` runs the tests.
  const talking = { ...options, env: { npm_config_loglevel: 'notice', ...options.env } };
  return cli?.endsWith('.js')
    ? node([cli, ...args], talking)
    : outcomeOf(start('npm', args, talking));
}
