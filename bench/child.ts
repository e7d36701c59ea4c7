import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pinned, type Role } from './machine.ts';

/** A Node process pinned to a core, which replies to each message. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(role: Role, args: readonly string[], stdio: StdioOptions) {
    const [command = '', ...rest] = pinned(role, [process.execPath, ...args]);
    const env = { ...process.env, NODE_ENV: 'production' };
    this.#process = spawn(command, rest, { stdio, env });
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`The process of the ${role} ended with ${code}.`);
    });
    this.#ended.catch(() => {}); // An early exit only matters while a caller waits for a reply.
  }

  async ask<T>(message: unknown): Promise<T> {
    const reply = once(this.#process, 'message');
    this.#process.send(message as object);
    const [value] = await Promise.race([reply, this.#ended]);
    return value;
  }

  /** Reads standard output until it contains the text. */
  async says(wanted: RegExp): Promise<string> {
    let text = '';
    // Drain later output, so that the process can keep writing.
    const output = this.#process.stdout?.iterator({ destroyOnReturn: false });
    for await (const chunk of output ?? []) {
      text += chunk;
      const found = wanted.exec(text)?.[1];
      if (found !== undefined) return found;
    }
    return await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#ended.catch(() => {});
  }
}
