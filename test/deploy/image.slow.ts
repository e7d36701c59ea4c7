import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { expect } from 'chai';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { startProgram } from '../support/server.ts';

const linesOf = (file: string) => readFileSync(join(repository, file), 'utf8').split('\n');

describe('the Docker image', () => {
  it('contains all files that its pages need', async () => {
    // The files that .dockerignore includes and the Dockerfile copies.
    const patterns = linesOf('.dockerignore').filter((line) => line.startsWith('!'));
    const seen = patterns
      .flatMap((line) => globSync([line.slice(1), `${line.slice(1)}/**`], { cwd: repository }))
      .map((path) => path.replaceAll(sep, '/'));
    const copied = linesOf('Dockerfile').flatMap((line) => {
      const [, paths = ''] = /^COPY (?!--from)(.+) \S+$/.exec(line) ?? [];
      return paths.split(' ').filter((path) => path !== '');
    });
    await using image = await temporaryDirectory();
    for (const path of seen.filter((path) => copied.includes(path.split('/')[0] ?? ''))) {
      mkdirSync(dirname(join(image.path, path)), { recursive: true });
      cpSync(join(repository, path), join(image.path, path), { recursive: true });
    }
    symlinkSync(join(repository, 'node_modules'), join(image.path, 'node_modules'), 'junction');
    await using server = await startProgram(join(image.path, 'src/main.ts'), '--store', 'memory:');
    for (const path of ['/', '/docs', '/admin', '/admin/client/index.js']) {
      expect((await fetch(server.address + path)).status, path).to.equal(200);
    }
  });
});
