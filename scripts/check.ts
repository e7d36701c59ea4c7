// All that needs no test run, side by side; every failure is shown, and one is enough to fail.
//
//   node scripts/check.ts                     everything, as `npm run check` does
//   node scripts/check.ts --only types,walls  these parts, and what they need

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { npm } from './npm.ts';

const root = resolve(import.meta.dirname, '..');
const modules = join(root, 'node_modules');

/** The packages that are built, by their folders. */
const packages = ['.', 'packages/rostrum-client', 'packages/rostrum-admin'];

interface Result {
  readonly ok: boolean;
  readonly output: string;
}

interface Part {
  readonly title: string;
  /** Parts that must have passed before this one can run. */
  readonly needs?: readonly string[];
  run(): Promise<Result>;
}

const parts: Record<string, Part> = {
  style: {
    title: 'format and lint (biome)',
    run: () =>
      tool(
        '@biomejs/biome/bin/biome',
        'ci',
        '--error-on-warnings',
        '--max-diagnostics=none',
        '--colors=off',
      ),
  },
  types: {
    title: 'types and build (tsc)',
    async run() {
      for (const folder of packages) {
        await rm(join(root, folder, 'dist'), { recursive: true, force: true });
      }
      return tool('typescript/bin/tsc', '-b', '--force', '--pretty', 'false');
    },
  },
  walls: {
    title: 'import boundaries (scripts/walls.ts)',
    run: () => node(join(root, 'scripts', 'walls.ts')),
  },
  unused: {
    title: 'unused files, exports, dependencies (knip)',
    run: () => tool('knip/bin/knip.js', '--no-progress', '--no-config-hints'),
  },
  licences: {
    title: 'licences of what the program runs on (scripts/sbom.ts)',
    run: () => node(join(root, 'scripts', 'sbom.ts')),
  },
  package: {
    title: 'the packages as they ship (publint, attw)',
    needs: ['types'],
    run: checkPackages,
  },
};

async function checkPackages(): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'rostrum-pack-'));
  try {
    const pack = ['pack', '--ignore-scripts', '--pack-destination', directory];
    const packed = npm(...pack, ...packages.map((folder) => `./${folder}`));
    if (packed.status !== 0) return { ok: false, output: packed.stdout + packed.stderr };
    const tarballs = (await readdir(directory)).map((name) => join(directory, name));
    const results = await Promise.all(
      tarballs.flatMap((tarball) => [
        tool('publint/src/cli.js', 'run', tarball, '--strict'),
        tool('@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only', '--no-color'),
      ]),
    );
    return {
      ok: results.length === 2 * packages.length && results.every((result) => result.ok),
      output: results.flatMap((result) => (result.ok ? [] : [result.output])).join('\n'),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function tool(script: string, ...args: string[]): Promise<Result> {
  return node(join(modules, script), ...args);
}

function node(script: string, ...args: readonly string[]): Promise<Result> {
  return new Promise((done) => {
    let output = '';
    const child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', (error) => done({ ok: false, output: `${output}${error.message}\n` }));
    child.on('close', (code) => done({ ok: code === 0, output }));
  });
}

function chosen(): Set<string> {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const names = new Set(values.only?.split(',') ?? Object.keys(parts));
  for (const name of names) {
    const part = parts[name];
    if (part === undefined) {
      console.error(`No part is called "${name}"; there are: ${Object.keys(parts).join(', ')}.`);
      process.exit(2);
    }
    for (const need of part.needs ?? []) names.add(need);
  }
  return names;
}

if (!existsSync(join(modules, 'typescript'))) {
  console.error(
    'The checks and tests need the packages for development: run `npm ci` without --omit=dev.',
  );
  process.exit(1);
}

const running = new Map<string, Promise<boolean>>();

async function runPart(name: string, part: Part): Promise<boolean> {
  const needed = await Promise.all((part.needs ?? []).map((need) => running.get(need)));
  if (!needed.every(Boolean)) {
    console.log(`- ${name}: not run, because it needs ${part.needs?.join(', ')}`);
    return false;
  }
  const start = performance.now();
  const { ok, output } = await part.run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${ok ? '✓' : '✗'} ${name}: ${part.title}, ${seconds} s`);
  if (!ok) console.log(`${output.trimEnd()}\n`);
  return ok;
}

const names = chosen();
for (const [name, part] of Object.entries(parts)) {
  if (names.has(name)) running.set(name, runPart(name, part));
}
const passed = await Promise.all(running.values());
if (!passed.every(Boolean)) process.exitCode = 1;
