import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Child, type Outcome, outcomeOf, start } from './process.ts';

/** The program of this checkout. */
export const program = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

/** The program, in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly address: string;
  /** What it printed when it was ready. */
  readonly readyLine: string;
  readonly process: Child;
  /** Ends it by a signal. @returns its exit code, null when the signal itself ended it */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the program on any free port. @throws with what it said when it does not get ready */
export function startServer(...args: string[]): Promise<Server> {
  return startProgram(program, ...args);
}

/** The same from another place, such as an installed package. */
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

/** Starts the program with any arguments; should it serve, then on a free port. */
export function startCommand(args: readonly string[], main = program): Child {
  return start(process.execPath, [main, ...args]);
}

/** Runs the program to its end. */
export function rostrum(...args: string[]): Promise<Outcome> {
  return outcomeOf(startCommand(args));
}

/** Makes a key. @returns its token. @throws with what the command said */
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

/** Sends JSON to the API of a server without credentials, and reads the JSON of the response. */
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
