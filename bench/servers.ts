import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinned } from './machine.ts';
import type { Usage } from './servers/probe.ts';
import { cache, root, type Workspace } from './workspace.ts';

export const contestants = ['bare', 'Fastify', 'Rostrum'] as const;
export type Contestant = (typeof contestants)[number];

/** A server in a process of its own, with its log in a file. */
export interface Server extends AsyncDisposable {
  readonly port: number;
  /** From the start of the process until it says that it is ready, in milliseconds. */
  readonly startMs: number;
  usage(): Promise<Usage>;
}

const build = join(cache, 'build');

/**
 * Compiles what Rostrum is compared to, as Rostrum is compiled, so that no server strips types
 * when it starts.
 */
export function buildServers(): void {
  const sources = ['index', 'probe'].map((name) => join('bench', 'servers', `${name}.ts`));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = `--ignoreConfig --noCheck --module nodenext --target es2024 --types node
    --rewriteRelativeImportExtensions --rootDir . --outDir`;
  const args = [tsc, ...sources, ...options.split(/\s+/), build];
  execFileSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
}

/** Starts a server on a store: of Rostrum, its program as it ships. */
export async function startServer(
  contestant: Contestant,
  { folder }: Workspace,
  { program, url }: { readonly program: string; readonly url: string },
): Promise<Server> {
  const compiled = join(build, 'bench', 'servers');
  const script =
    contestant === 'Rostrum'
      ? [program, '--store', url, '--host', '127.0.0.1', '--port', '0', '--log-level', 'info']
      : [join(compiled, 'index.js'), contestant.toLowerCase(), url];
  const node = [process.execPath, '--import', join(compiled, 'probe.js'), ...script];
  const [command = '', ...args] = pinned('server', node);
  const log = join(folder, `${contestant}.log`);
  const descriptor = openSync(log, 'a');
  const start = performance.now();
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', descriptor, 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  closeSync(descriptor);
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${contestant} ended: ${readFileSync(log, 'utf8').slice(-2000)}`);
  });
  failed.catch(() => {}); // It counts only while somebody waits for the server.
  const port = await Promise.race([portOf(child), failed]);
  const startMs = performance.now() - start;
  return {
    port,
    startMs,
    async usage() {
      const message = once(child, 'message');
      child.send('usage');
      const [usage] = await Promise.race([message, failed]);
      return usage;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill();
      await exited;
    },
  };
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  let text = '';
  for await (const chunk of stdout ?? []) {
    text += chunk;
    const [, port] = / ready at http:\/\/\S+:(\d+)/.exec(text) ?? [];
    if (port !== undefined) return Number(port);
  }
  throw new Error(`The server does not say where it listens: ${text}`);
}
