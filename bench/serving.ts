import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Workspace } from './workspace.ts';

/** Where the servers on one store listen. */
export interface Ports {
  readonly rostrum: number;
  /** The program with its access log, as it runs when nothing else is said. */
  readonly logging: number;
  readonly bare: number;
}

export interface Serving extends AsyncDisposable {
  readonly ports: Ports;
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
  const ports = await Promise.race([
    once(child, 'message').then(([message]) => message as Ports),
    exited.then(() => undefined),
  ]);
  if (ports === undefined) throw new Error(`The server failed: ${readFileSync(log, 'utf8')}`);
  return {
    ports,
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await exited;
    },
  };
}
