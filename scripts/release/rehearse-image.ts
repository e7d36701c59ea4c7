// Rehearses the image where no container builder is: runs the last stage of the Dockerfile in a folder, with a packed
// rostrum-server in place of the first stage. Then starts the image, read-only and as its user, and calls it. The base
// is this system with the Node that runs this script. It needs root on Linux, to mount.
//
//   node scripts/release/rehearse-image.ts tarballs/rostrum-server-0.1.0.tgz

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const [tarball = '', folder] = process.argv.slice(2);
if (folder === undefined) rehearse();
else await buildAndTry(folder);

/** Runs this script again with mounts of its own, which end with it. */
function rehearse(): void {
  if (spawnSync('unshare', ['--mount', 'mount', '--bind', '/usr', '/usr']).status !== 0) {
    console.log('The image is not rehearsed: that needs root on Linux.');
    return;
  }
  const temporary = mkdtempSync(join(tmpdir(), 'rostrum-image-'));
  chmodSync(temporary, 0o755);
  const command = [process.execPath, import.meta.filename, resolve(tarball), temporary];
  const args = ['--mount', '--pid', '--fork', '--kill-child', ...command];
  const { status } = spawnSync('unshare', args, { stdio: 'inherit' });
  rmSync(temporary, { recursive: true });
  process.exitCode = status ?? 1;
}

async function buildAndTry(temporary: string): Promise<void> {
  const bundle = join(temporary, 'bundle');
  mkdirSync(bundle);
  run('tar', '--extract', '--file', tarball, '--directory', bundle, '--strip-components=1');
  const root = join(temporary, 'root');
  makeBase(root);
  const base = readdirSync(root);
  const image = build(root, bundle);
  const made = readdirSync(root).filter((name) => !base.includes(name));
  const options = { maxBuffer: 1024 ** 3 };
  const packed = execFileSync('tar', ['--create', '--gzip', '-C', root, ...made], options);
  // As Docker does, gives the volume the owner of the folder in the image.
  const data = join(temporary, 'data');
  run('cp', '--archive', join(root, image.volume), data);
  run('mount', '--options', 'remount,bind,ro', root);
  run('mount', '--bind', data, join(root, image.volume));
  await tryOut(image, root);
  const size = (packed.length / 1e6).toFixed(1);
  console.log(
    `The steps of the image ran in a folder, and it served from there: ${size} MB, compressed, on top of Node's base.`,
  );
}

/** Makes a small root file system from this one. */
function makeBase(root: string): void {
  mkdirSync(root);
  run('mount', '--bind', root, root);
  for (const name of ['bin', 'lib', 'lib64', 'sbin']) {
    bind(root, `/usr/${name}`);
    const isLink = lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink();
    if (isLink) symlinkSync(readlinkSync(`/${name}`), join(root, name));
    else bind(root, `/${name}`);
  }
  const node = join(root, 'usr/local/bin/node');
  mkdirSync(join(node, '..'), { recursive: true });
  writeFileSync(node, '');
  run('mount', '--bind', process.execPath, node);
  for (const name of ['dev', 'etc', 'proc', 'tmp']) mkdirSync(join(root, name));
  run('mount', '--rbind', '/dev', join(root, 'dev'));
  run('mount', '-t', 'proc', 'proc', join(root, 'proc'));
  chmodSync(join(root, 'tmp'), 0o1777);
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nnode:x:1000:1000::/:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
}

/** Shows a folder of this system at the same path in another root. */
function bind(root: string, path: string): void {
  if (!existsSync(path)) return;
  mkdirSync(join(root, path), { recursive: true });
  run('mount', '--bind', path, join(root, path));
  run('mount', '--options', 'remount,bind,ro', join(root, path));
}

/** What the Dockerfile says about how to run the image. */
interface Image {
  env: string[];
  folder: string;
  user: string;
  volume: string;
  health: string[];
  entrypoint: string[];
}

/** Runs the steps of the Dockerfile's last stage. */
function build(root: string, bundle: string): Image {
  const file = readFileSync(join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const lines = file.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, '');
  const [, ...steps] = (lines.split(/^(?=FROM )/m).at(-1) ?? '').split('\n').filter(Boolean);
  const env = ['PATH=/usr/local/bin:/usr/bin:/bin'];
  const image: Image = { env, folder: '/', user: '0:0', volume: '', health: [], entrypoint: [] };
  const actions: Record<string, (given: string) => void> = {
    COPY(given) {
      const [from, source, to = ''] = given.split(' ');
      if (from !== '--from=bundle' || source !== '/rostrum') throw new Error(`COPY ${given}`);
      cpSync(bundle, join(root, to), { recursive: true });
    },
    WORKDIR(given) {
      mkdirSync(join(root, given), { recursive: true });
      image.folder = given;
    },
    RUN: (given) => run('chroot', ...within(root, image), 'sh', '-c', given),
    ENV: (given) => image.env.push(...given.split(' ')),
    USER: (given) => (image.user = given),
    VOLUME: (given) => (image.volume = given),
    EXPOSE() {},
    HEALTHCHECK: (given) => (image.health = JSON.parse(given.slice(given.indexOf('[')))),
    ENTRYPOINT: (given) => (image.entrypoint = JSON.parse(given)),
  };
  for (const step of steps) {
    const [, name = '', given = ''] = /^(\w+) (.*)$/.exec(step) ?? [];
    if (!Object.hasOwn(actions, name)) throw new Error(`The rehearsal can't run: ${step}`);
    actions[name]?.(given);
  }
  return image;
}

/** Returns the arguments of `chroot` that come before a command. */
function within(root: string, { user, folder, env }: Image): string[] {
  return [`--userspec=${user}`, '--groups=', root, 'env', '-i', `--chdir=${folder}`, ...env];
}

/** Starts the image, checks that it serves and is healthy, and stops it. */
async function tryOut(image: Image, root: string): Promise<void> {
  const port = await freePort();
  const env = [...image.env, `PORT=${port}`, 'HOST=127.0.0.1', 'ANONYMOUS=all'];
  const inside = within(root, { ...image, env });
  const succeeds = (...command: readonly string[]) =>
    spawnSync('chroot', [...inside, ...command], { stdio: ['ignore', 'ignore', 'inherit'] })
      .status === 0;

  const debug = 'NODE_DEBUG_NATIVE=COMPILE_CACHE';
  const server = spawn('chroot', [...inside, debug, ...image.entrypoint]);
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(server, 'exit');
  const isReady = await Promise.race([
    once(createInterface({ input: server.stdout }), 'line').then(() => true),
    ended.then(() => false),
  ]);
  check(isReady, said);

  const api = `http://127.0.0.1:${port}/api/v1`;
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ title: 'Hello' });
  const { status } = await fetch(`${api}/posts`, { method: 'POST', headers, body });
  check(status === 201, `POST /posts returned ${status}.`);
  // An import needs a folder for temporary files.
  check(succeeds(...image.entrypoint, 'seed'), 'The store cannot be filled.');
  const list = await (await fetch(`${api}/posts?title=Hello`)).text();
  check(list.includes('"Hello"'), `GET /posts returned ${list}`);
  check(succeeds(...image.health), 'The health check fails.');

  server.kill();
  check((await ended)[0] === 0, said);
  check(!succeeds(...image.health), 'The health check succeeds without a server.');
  const isCached = said.includes(' was accepted') && !said.includes(' was not initialized');
  check(isCached, `The compile cache is not used: ${said}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
}

function check(isRight: boolean, otherwise: string): asserts isRight {
  if (!isRight) throw new Error(otherwise);
}
