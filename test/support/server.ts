import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

/** The program, in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly address: string;
  /** What it printed when it was ready. */
  readonly readyLine: string;
  readonly process: ChildProcess;
  /** Ends it by a signal. @returns its exit code, null when the signal itself ended it */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts the program on any free port. @throws with what it said when it does not get ready */
export function startServer(...args: string[]): Promise<Server> {
  return startProgram(main, ...args);
}

/** The same from another place, such as an installed package. */
export async function startProgram(main: string, ...args: string[]): Promise<Server> {
  const child = spawn(process.execPath, [main, '--port', '0', '--log-level', 'error', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-10_000);
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const ready = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    exited.then(() => undefined),
  ]);
  if (ready === undefined) throw new Error(`the server did not start: ${said}`);
  const address = /http:\/\/\S+/.exec(ready)?.[0] ?? '';
  async function stop(signal: NodeJS.Signals = 'SIGTERM') {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  }
  return {
    address,
    readyLine: ready,
    process: child,
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
    },
  };
}
