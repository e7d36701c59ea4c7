import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { freePort } from '../free-port.ts';
import { untilServed } from '../until.ts';

/** A server process with a data folder of its own. */
export class Mongod implements AsyncDisposable {
  readonly #binary: string;
  readonly #args: readonly string[];
  readonly #folder = mkdtempSync(join(tmpdir(), 'rostrum-mongod-'));
  readonly port: number;
  readonly #end = () => {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  };
  #process: ChildProcess | undefined;

  private constructor(binary: string, port: number, args: readonly string[]) {
    this.#binary = binary;
    this.port = port;
    this.#args = [
      ...['--port', `${port}`, '--bind_ip', '127.0.0.1', '--dbpath', this.#folder],
      ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
      ...args,
    ];
    process.once('exit', this.#end);
  }

  /** Starts a server on a free port. */
  static async start(binary: string, args: readonly string[]): Promise<Mongod> {
    const mongod = new Mongod(binary, await freePort(), args);
    await mongod.start();
    return mongod;
  }

  /** Starts the process again, with its data. */
  async start(): Promise<void> {
    const child = spawn(this.#binary, this.#args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    let log = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
    });
    const ended = once(child, 'exit').then(() => {
      throw new Error(`mongod exited: ${log}`);
    });
    // A killed node has to recover from its journal first.
    await Promise.race([untilServed(() => this.command({ ping: 1 }), 60_000), ended]);
    ended.catch(() => {});
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Runs a command on this node, in the database `admin`. */
  async command(command: object): Promise<Record<string, unknown>> {
    const client = new MongoClient(`mongodb://127.0.0.1:${this.port}`, {
      directConnection: true,
      serverSelectionTimeoutMS: 1000,
      connectTimeoutMS: 1000,
      socketTimeoutMS: 10_000,
    });
    try {
      return await client.db('admin').command(command);
    } finally {
      await client.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    this.#end();
    process.off('exit', this.#end);
  }
}
