import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import manifest from '../examples/refine/package.json' with { type: 'json' };
import { start } from './support/process.ts';
import { copyRepository, repository, temporaryDirectory } from './support/repository-copy.ts';

describe('an example', function () {
  this.timeout(60_000);

  it('leaves no processes behind when it is killed', async () => {
    await using folder = await temporaryDirectory();
    // Replaces Vite: prints its process id and the API's URL, and runs until it is killed.
    const vite = join(folder.path, 'node_modules', 'vite', 'bin');
    await mkdir(vite, { recursive: true });
    const fake = `
      console.log(JSON.stringify({ pid: process.pid, api: process.env.ROSTRUM }));
      setInterval(() => {}, 1000);`;
    await writeFile(join(vite, 'vite.js'), fake);
    await writeFile(join(folder.path, 'node_modules', '.package-lock.json'), '{}');
    const script = manifest.scripts.start.replace('..', join(repository, 'examples'));
    const own = { private: true, scripts: { start: script } };
    await writeFile(join(folder.path, 'package.json'), JSON.stringify(own));

    const example = start('npm', ['start', '--silent'], { cwd: folder.path });
    const [line] = await once(example.stdout.setEncoding('utf8'), 'data');
    const { pid, api } = JSON.parse(line) as { pid: number; api: string };
    expect((await fetch(`${api}/livez`)).status).to.equal(200);
    example.kill('SIGTERM');
    await once(example, 'exit');
    let left: string[] = [];
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(100)) {
      left = [...(isRunning(pid) ? ['page'] : []), ...((await isServed(api)) ? ['server'] : [])];
      if (left.length === 0) break;
    }
    expect(left).to.deep.equal([]);
  });
});

describe('copyRepository', () => {
  it('omits packages and build output of the examples', async () => {
    await using source = await temporaryDirectory();
    const example = join(source.path, 'examples', 'refine');
    await mkdir(join(example, 'node_modules', 'react'), { recursive: true });
    await mkdir(join(example, '.next'));
    await writeFile(join(example, 'main.jsx'), '');
    await using copy = await copyRepository(source.path);
    const files = await readdir(join(copy.path, 'examples', 'refine'));
    expect(files).to.deep.equal(['main.jsx']);
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function isServed(api: string): Promise<boolean> {
  return fetch(api).then(
    () => true,
    () => false,
  );
}
