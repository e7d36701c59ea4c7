import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Load, LoadResult } from './client.ts';
import { pinned } from './machine.ts';
import type { Server } from './servers.ts';

/** One server's turn under a load. */
export interface Turn extends LoadResult {
  /** Processor time that the server used for a request, in microseconds. */
  readonly cpuUs: number;
  /** The server's memory when the turn ended. */
  readonly rssMiB: number;
}

/** The process of bench/client.ts. */
export class Client implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #failed: Promise<never>;

  constructor() {
    const node = [process.execPath, join(import.meta.dirname, 'client.ts')];
    const [command = '', ...args] = pinned('client', node);
    this.#child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#failed = once(this.#child, 'exit').then(() => {
      throw new Error('The client ended.');
    });
    this.#failed.catch(() => {}); // It counts only during a turn.
  }

  /** Connections are opened before the measurement begins. */
  async turn(server: Server, load: Omit<Load, 'port'>): Promise<Turn> {
    await this.#ask({ ...load, port: server.port });
    const before = await server.usage();
    const result = (await this.#ask('go')) as LoadResult;
    const { cpuUs, rssMiB } = await server.usage();
    return { ...result, cpuUs: (cpuUs - before.cpuUs) / result.requests, rssMiB };
  }

  async #ask(message: Load | 'go'): Promise<unknown> {
    const reply = once(this.#child, 'message');
    this.#child.send(message);
    const [value] = await Promise.race([reply, this.#failed]);
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill();
    await exited;
  }
}
