import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { install } from '../scripts/install.ts';
import { Child } from './child.ts';
import type { Usage } from './servers/probe.ts';
import { root, type Workspace } from './workspace.ts';

export const contestants = ['bare', 'Fastify', 'Koa', 'Rostrum'] as const;
export type Contestant = (typeof contestants)[number];

/** A server in a child process that logs to a file. */
export interface Server extends AsyncDisposable {
  readonly port: number;
  /** The time from the start of the process until it is ready, in milliseconds. */
  readonly startMs: number;
  usage(): Promise<Usage>;
}

/** Beside the packages of `bench/package.json`. */
const build = join(root, 'bench', 'dist');
const local = ['--host', '127.0.0.1', '--port', '0', '--log-level', 'info'];

/**
 * Builds the program and the servers to compare with, so that no server has to strip types when it starts.
 * Returns the path of the program.
 */
export function buildServers(): string {
  install('bench');
  const run = (args: readonly string[]) =>
    execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
  run(['node_modules/typescript/bin/tsc', '--build']);
  const options = `--ignoreConfig --noCheck --module nodenext --target es2024 --types node
    --rewriteRelativeImportExtensions --rootDir . --outDir`.split(/\s+/);
  const sources = ['bench/servers/index.ts', 'bench/servers/probe.ts'];
  run(['node_modules/typescript/bin/tsc', ...sources, ...options, build]);
  return join(root, 'dist', 'main.js');
}

interface StartOptions {
  readonly program: string;
  readonly url: string;
  /** Additional arguments for the program. */
  readonly args?: readonly string[];
}

/** Starts a server on a store. For Rostrum, this is the program as shipped. */
export async function startServer(
  contestant: Contestant,
  { folder }: Workspace,
  { program, url, args: more = [] }: StartOptions,
): Promise<Server> {
  const compiled = join(build, 'bench', 'servers');
  const script =
    contestant === 'Rostrum'
      ? [program, '--store', url, ...local, ...more]
      : [join(compiled, 'index.js'), contestant.toLowerCase(), url];
  const log = join(folder, `${contestant}.log`);
  const descriptor = openSync(log, 'a');
  const start = performance.now();
  const args = ['--import', join(compiled, 'probe.js'), ...script];
  const child = new Child('server', args, ['ignore', 'pipe', descriptor, 'ipc']);
  closeSync(descriptor);
  try {
    const port = Number(await child.says(/ ready at http:\/\/\S+:(\d+)/));
    return {
      port,
      startMs: performance.now() - start,
      usage: () => child.ask<Usage>('usage'),
      [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
    };
  } catch (cause) {
    const lines = readFileSync(log, 'utf8').slice(-2000);
    throw new Error(`${contestant} did not start: ${lines}`, { cause });
  }
}
