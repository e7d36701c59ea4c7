import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import manifest from '../../package.json' with { type: 'json' };
import { npm } from '../npm.ts';

const root = resolve(import.meta.dirname, '..', '..');
const isWindows = process.platform === 'win32';
const libraries = ['rostrum', 'rostrum-client', 'rostrum-admin'];
const pnpm = ['exec', '--yes', '--package', 'pnpm@10', '--', 'pnpm'];
const installers = [
  ['install', '--no-audit', '--no-fund'],
  [...pnpm, 'add'],
];

/**
 * Installs all tarballs in an empty project with npm and with pnpm, and loads the libraries there. Runs the commands with
 * which README.md installs them.
 */
export async function testInstalls(tarballs: readonly string[]): Promise<void> {
  for (const add of installers) {
    const project = mkdtempSync(join(tmpdir(), 'rostrum-install-'));
    try {
      writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
      // The packages depend on one another, and are not in the registry yet.
      const overrides = libraries.map((name) => {
        const path = tarballs.find((one) => basename(one) === `${name}-${manifest.version}.tgz`);
        return `  ${name}: 'file:${path}'\n`;
      });
      writeFileSync(join(project, 'pnpm-workspace.yaml'), `overrides:\n${overrides.join('')}`);
      const { status, stderr } = npm([...add, ...tarballs], project);
      if (status !== 0) throw new Error(`${add.join(' ')} failed: ${stderr}`);
      const load = libraries.map((name) => `import '${name}';`).join('');
      execFileSync(process.execPath, ['--input-type=module', '--eval', load], { cwd: project });
      // They install with npm.
      const commands = add === installers[0] ? readmeCommands() : [];
      for (const line of commands) await run(line, project);
    } finally {
      rmSync(project, { recursive: true, force: true });
    }
  }
}

/** Returns the commands that README.md has for a project. */
function readmeCommands(): string[] {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  const [, block] = /^```sh\n(.*# in the clone\n[^`]*)^```$/m.exec(text) ?? [];
  if (block === undefined) throw new Error('README.md has no commands that install the packages.');
  const [, ...lines] = block.trim().split('\n');
  // cmd.exe has no comments that start with #.
  return lines.map((line) => line.replace(/\s+# .*/, '').replaceAll('…', root));
}

/** Runs a command until it ends, or until it says where it listens. */
async function run(command: string, cwd: string): Promise<void> {
  console.log(`$ ${command}`);
  const child = spawn(command, {
    // Outside Windows, the shell leads a process group, which a signal ends as a whole.
    ...{ cwd, shell: true, detached: !isWindows },
    env: { ...process.env, PORT: '0', npm_config_yes: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let output = '';
  let isListening = false;
  for await (const line of createInterface(child.stdout)) {
    output += `${line}\n`;
    if (isListening || !line.includes('http://127.0.0.1:')) continue;
    isListening = true;
    endTree(child);
  }
  const [code] = await exited;
  if (code !== 0 && !isListening) throw new Error(`${command} failed:\n${output}`);
}

function endTree({ pid = 0 }: ChildProcess): void {
  if (isWindows) execFileSync('taskkill', ['/pid', String(pid), '/t', '/f']);
  else process.kill(-pid, 'SIGTERM');
}
