import { readFileSync } from 'node:fs';
import { Failure } from './failure.ts';

/** The path of package.json is the same from the sources and from the build. */
export function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}

interface Manifest {
  /** Also the name of the command. */
  readonly name: string;
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** @throws Failure if Node is older than package.json requires */
export function checkNode(): void {
  const wanted = manifest().engines.node.replace('>=', '');
  if (wanted.localeCompare(process.versions.node, 'en', { numeric: true }) <= 0) return;
  throw new Failure(
    `Rostrum needs Node ${wanted} or newer, and this is ${process.version}: install Node 24.`,
  );
}

/** Packages that are needed together. */
const groups = {
  'the server':
    'commander koa @koa/router koa-bodyparser koa-compose inversify reflect-metadata pino',
  '--mcp': '@modelcontextprotocol/server zod',
};

/** Says how to install a missing package. Returns any other error as it is. */
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
