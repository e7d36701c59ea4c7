// Releases the version of package.json: builds and packs the packages, installs and tests the tarballs, builds the image,
// and publishes all of it. With --dry-run, it does everything except publish. The results are in tarballs/.
//
//   npm run release -- --dry-run [--quick, with a few of the tests of the bundle]

import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { install } from '../install.ts';
import { npm } from '../npm.ts';
import { testInstalls } from './installs.ts';
import { packAll } from './tarballs.ts';

const root = resolve(import.meta.dirname, '..', '..');
const folder = join(root, 'tarballs');
const { 'dry-run': isDry = false, quick = false } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, quick: { type: 'boolean' } },
}).values;
const { version } = manifest;
const tag = `v${version}`;
const { GITHUB_REF_NAME, GITHUB_REF_TYPE, GITHUB_REPOSITORY, GITHUB_ACTIONS } = process.env;
if (GITHUB_REF_TYPE === 'tag' && GITHUB_REF_NAME !== tag) {
  throw new Error(`package.json has version ${version}, but the tag is ${GITHUB_REF_NAME}.`);
}

/** Runs a script of this repository, and ends the release if it fails. */
function run(script: string, args: readonly string[], env: Record<string, string> = {}): void {
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } } as const;
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], options);
  if (status !== 0) throw new Error(`${script} failed.`);
}

function runNpm(args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = npm(args, cwd);
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

/** Returns the section of a version in CHANGELOG.md. On GitHub, its links lead to the files at the tag. */
function notesOf(wanted: string): string {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = sections.find((one) => one.startsWith(`${wanted} `));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${wanted} (…)".`);
  const isReleased = /^\S+ \(\d{4}-\d\d-\d\d\)$/m.test(section);
  if (!isReleased && !isDry) throw new Error(`The section of ${wanted} needs its date.`);
  const text = section.slice(section.indexOf('\n')).trim();
  if (GITHUB_REPOSITORY === undefined) return text;
  const files = `https://github.com/${GITHUB_REPOSITORY}/blob/${tag}/`;
  return text.replaceAll(/\]\((?!https?:|#)/g, `](${files}`);
}

/** The tests of the program. They start it, or import its modules. */
const tests = quick
  ? ['test/main.slow.ts', 'test/cli/*.test.ts', 'test/cli/{backup,copy}.slow.ts']
  : [
      ...['test/cli/**/*.test.ts', 'test/cli/**/*.slow.ts', 'test/main.slow.ts'],
      ...['test/waiting.slow.ts', 'test/hanging.slow.ts', 'test/two-processes.slow.ts'],
      'test/adapters/mcp/program.slow.ts',
      // These call the modules of the bundle.
      ...['test/adapters/http/**/*.test.ts', 'test/adapters/mcp/**/*.test.ts'],
    ];

/** Installs a tarball in an empty project and runs the tests of the program against it. */
async function testServer(tarball: string): Promise<void> {
  install('examples/moving-in'); // The tests import with its recipes.
  const project = mkdtempSync(join(tmpdir(), 'rostrum-release-'));
  try {
    writeFileSync(join(project, 'package.json'), '{ "private": true }');
    runNpm(['install', '--offline', '--no-audit', '--no-fund', tarball], project);
    const program = join(project, 'node_modules', 'rostrum-server', 'dist', 'main.js');
    // The same bundle, with more entry points: a test can import each module of `src`.
    const modules = join(project, 'modules');
    const { bundleServer } = await import('./bundle.ts');
    await bundleServer(modules, globSync('**/*.ts', { cwd: join(root, 'src') }));
    const redirect = `--import=${import.meta.resolve('./test-bundle.ts')}`;
    const options = [redirect, '--parallel', '--jobs', '4', '--reporter', 'dot'];
    // These tests need the files of a clone, or packages that are missing; the bundle contains all of them.
    const except = 'loads no|names its package|that installs them|npm start';
    options.push('--grep', except, '--invert');
    run('node_modules/mocha/bin/mocha.js', [...options, ...tests], {
      ROSTRUM_PROGRAM: program,
      ROSTRUM_MODULES: modules,
    });
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

const notes = notesOf(version);
runNpm(['run', 'build'], root);
const tarballs = await packAll(folder);
run('scripts/release/check.ts', tarballs);
const server = tarballs.find((path) => path.includes('rostrum-server')) ?? '';
await testInstalls(tarballs);
await testServer(server);
run('scripts/sbom.ts', ['--output', join(folder, 'sbom.cdx.json')]);
writeFileSync(join(folder, 'notes.md'), `${notes}\n`);

// The name of a repository can have upper-case letters. Registries of images reject them.
const image = (process.env.ROSTRUM_IMAGE ?? 'rostrum').toLowerCase();
const hasBuildx = spawnSync('docker', ['buildx', 'version']).status === 0;
// On Windows, Docker can be set to build images of Windows only.
const info = spawnSync('docker', ['info', '--format', '{{.OSType}}']).stdout;
const canBuild = hasBuildx && String(info).trim() === 'linux';
if (canBuild && isDry) buildImage();
else if (isDry) {
  console.log('There is no Docker here that builds Linux images: the image is not built.');
  run('scripts/release/rehearse-image.ts', [server]);
} else if (!canBuild) throw new Error('The image needs docker buildx, and a Docker for Linux.');

if (isDry) {
  for (const tarball of tarballs) console.log(`would publish ${tarball}`);
} else {
  for (const tarball of tarballs) {
    const name = basename(tarball, `-${version}.tgz`);
    // A release that failed in the middle can be run again.
    if (npm(['view', `${name}@${version}`, 'version'], root).stdout.trim() === version) continue;
    // npm makes provenance only in CI.
    const provenance = GITHUB_ACTIONS ? ['--provenance'] : [];
    console.log(runNpm(['publish', tarball, '--access', 'public', ...provenance], root));
  }
  buildImage();
  const files = [...tarballs, join(folder, 'sbom.cdx.json')];
  const about = ['--title', version, '--notes-file', join(folder, 'notes.md'), '--verify-tag'];
  runCommand('gh', ['release', 'create', tag, ...files, ...about]);
}
console.log(`${version}: ${globSync('*', { cwd: folder }).sort().join(', ')}`);

/**
 * Builds the image for both platforms, and pushes it with its SBOM and provenance. A rehearsal only builds it for the
 * platform of this machine, because others need an emulator.
 */
function buildImage(): void {
  const platforms = isDry ? [] : ['--platform', 'linux/amd64,linux/arm64'];
  const tags = [version, 'latest'].flatMap((tag) => ['--tag', `${image}:${tag}`]);
  const push = isDry ? [] : ['--push', '--sbom=true', '--provenance=mode=max'];
  runCommand('docker', ['buildx', 'build', ...platforms, ...tags, ...push, '.']);
}

function runCommand(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.`);
}
