import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Load, load } from './load.ts';
import type { Workspace } from './workspace.ts';

/**
 * The servers on one store: the program's, the program's with its access log (as it runs when
 * nothing else is said), and a bare one.
 */
export type Variant = 'rostrum' | 'logging' | 'bare';

/** Where they listen. */
export type Ports = Readonly<Record<Variant, number>>;

/** What the process says when it is asked: the milliseconds of a processor that it has used. */
export interface Used {
  readonly cpuMs: number;
}

export interface Throughput {
  /** Answers a second. */
  readonly rate: number;
  /** Milliseconds of a processor that the server used for an answer. */
  readonly cpuMs: number;
}

export interface Serving extends AsyncDisposable {
  at(variant: Variant): {
    readonly port: number;
    throughput(load: Omit<Load, 'port'>): Promise<Throughput>;
  };
}

let servers = 0;

/** Starts the process of bench/server.ts on a store. Its log goes to a file. */
export async function startServing(
  { folder }: Workspace,
  url: string,
  posts: number,
): Promise<Serving> {
  const log = join(folder, `server-${++servers}.log`);
  const descriptor = openSync(log, 'w');
  const child = fork(join(import.meta.dirname, 'server.ts'), [url, String(posts)], {
    stdio: ['ignore', 'inherit', descriptor, 'ipc'],
  });
  closeSync(descriptor);
  const exited = once(child, 'exit');
  async function told<T>(): Promise<T> {
    const message = once(child, 'message').then(([value]) => ({ value: value as T }));
    const found = await Promise.race([message, exited.then(() => undefined)]);
    if (found === undefined) throw new Error(`The server failed: ${readFileSync(log, 'utf8')}`);
    return found.value;
  }
  async function used(): Promise<number> {
    child.send('used');
    return (await told<Used>()).cpuMs;
  }

  const ports = await told<Ports>();
  return {
    at: (variant) => ({
      port: ports[variant],
      async throughput(wanted) {
        const before = await used();
        const { rate, answers } = await load({ ...wanted, port: ports[variant] });
        return { rate, cpuMs: ((await used()) - before) / answers };
      },
    }),
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await exited;
    },
  };
}
