import { readFileSync } from 'node:fs';
import { Failure } from './failure.ts';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The manifest lies at the same place above the sources and above the build. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}

export function version(): string {
  return manifest().version;
}

/** @throws Failure on a Node that is older than package.json asks for */
export function checkNode(): void {
  const wanted = manifest().engines.node.replace('>=', '');
  const [major = 0, minor = 0] = wanted.split('.').map(Number);
  const [isMajor = 0, isMinor = 0] = process.versions.node.split('.').map(Number);
  if (isMajor > major || (isMajor === major && isMinor >= minor)) return;
  throw new Failure(
    `Rostrum needs Node ${wanted} or newer and this is ${process.version}: install Node 24.`,
  );
}

/** What parts of the program need together; the driver of MongoDB comes on top. */
const groups = {
  'the server': 'commander koa @koa/router koa-bodyparser inversify reflect-metadata pino',
  '--mcp': '@modelcontextprotocol/server zod',
};

/** Says how to install a package that is missing; returns any other error as it is. */
export function explainMissing(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) {
    return error;
  }
  const [, name] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (name === undefined) return error;
  const [part, all] =
    Object.entries(groups).find(([, names]) => names.split(' ').includes(name)) ?? [];
  const together = all && ` (or \`npm i ${all}\`, which is all that ${part} needs)`;
  return new Failure(
    `The package ${name} is not installed: run \`npm i ${name}\`${together ?? ''}.`,
  );
}
