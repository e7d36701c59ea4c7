import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, type Outcome, outcomeOf, start } from './process.ts';

/** The path of the program: this checkout's, or ROSTRUM_PROGRAM, such as the bundle of rostrum-server. */
export const program =
  process.env.ROSTRUM_PROGRAM ?? join(import.meta.dirname, '..', '..', 'src', 'main.ts');

/** The program, running in a child process. */
export interface Server extends AsyncDisposable {
  readonly address: string;
  /** The line printed when the server was ready. */
  readonly readyLine: string;
  readonly process: Child;
  /** Sends a signal and returns the exit code, or null if the signal killed the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the program on a free port. Throws with its output if it does not become ready. */
export function startServer(...args: string[]): Promise<Server> {
  return startProgram(program, ...args);
}

/** Starts a program at another path, such as an installed package. */
export async function startProgram(main: string, ...args: string[]): Promise<Server> {
  const child = startCommand(['--log-level', 'error', ...args, '--port', '0'], main);
  const ended = outcomeOf(child);
  const ready = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    ended.then(({ stderr }) => new Error(`the server did not start: ${stderr}`)),
  ]);
  if (ready instanceof Error) throw ready;
  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    child.kill(signal);
    return (await ended).code;
  }
  return {
    address: /http:\/\/\S+/.exec(ready)?.[0] ?? '',
    readyLine: ready,
    process: child,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}

/** Starts the program with any arguments. If it serves, it uses a free port. */
export function startCommand(args: readonly string[], main = program): Child {
  return start(process.execPath, [main, ...args]);
}

/** Runs the program until it exits. */
export function rostrum(...args: string[]): Promise<Outcome> {
  return outcomeOf(startCommand(args));
}

/** Creates a key and returns its token. Throws with the output if the command fails. */
export async function createKey(
  keys: string,
  scopes: string,
  ...more: readonly string[]
): Promise<string> {
  const args = ['key', 'create', '--auth-keys', keys, '--scopes', scopes, ...more];
  const { code, stdout, stderr } = await rostrum(...args);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

/** Sends JSON to the API of a server without credentials, and parses the JSON response. */
export async function sendJson<Body>(
  address: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Body }> {
  const headers = { 'Content-Type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${address}/api/v1${path}`, init);
  return { status: response.status, body: (await response.json()) as Body };
}
