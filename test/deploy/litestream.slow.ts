import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { createClient, type Post } from '../../packages/rostrum-client/src/index.ts';
import { findLitestream } from '../support/litestream/litestream.ts';
import { outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { type Server, sendJson, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';

const textOf = (file: string) => readFileSync(join(repository, 'deploy/compose', file), 'utf8');

describe('SQLite with Litestream', function () {
  this.timeout(120_000);

  it('restores every post acknowledged before the last replication', async function () {
    const litestream = await findLitestream();
    if (litestream === undefined) return this.skip();
    await using folder = await temporaryDirectory();
    const local = (text: string) =>
      text.replaceAll(/\/(?=data\/|backup\/)/g, () => `${folder.path}/`);
    const config = join(folder.path, 'litestream.yml');
    writeFileSync(config, local(textOf('litestream.yml')));
    const { services } = parse(textOf('sqlite.yaml'), { merge: true });
    /** Starts Litestream as a service of the Compose file does. */
    const run = (service: string) => {
      const [command, ...args] = services[service].command.map(local);
      return start(litestream, [command, '-config', config, ...args]);
    };
    const data = join(folder.path, 'data');
    const path = join(data, 'rostrum.db');
    const copied = () => newestIn(join(folder.path, 'backup/rostrum'));

    let log = '';
    async function serve() {
      const server = await startServer('--store', `sqlite:${path}`, '--log-level', 'warn');
      server.process.stderr.on('data', (text) => {
        log += text;
      });
      return server;
    }

    /**
     * Writes posts and copies them, twice, and kills the server. Returns the posts. Nothing is written while Litestream
     * runs, because versions before 0.5.18 damage the copy then.
     */
    async function writeAndCopy(server: Server): Promise<Post[]> {
      const posts: Post[] = [];
      for (const part of [1, 2]) {
        for (let n = 0; n < 100; n++) {
          const title = `Post ${part}.${n}`;
          const { status, body } = await sendJson<Post>(server.address, 'POST', '/posts', {
            title,
          });
          expect(status).to.equal(201);
          posts.push(body);
        }
        const before = copied();
        const replication = run('litestream');
        const ended = outcomeOf(replication);
        await until(() => copied() > before, 'posts are copied');
        replication.kill('SIGTERM'); // Litestream copies the rest before it ends.
        await ended;
      }
      await server.stop('SIGKILL');
      return posts;
    }

    const kept: Post[] = [];
    const times: string[] = [];
    // In the first round there is nothing to restore. The second one adds to the copy of the first.
    for (const round of [1, 2, 3]) {
      rmSync(data, { recursive: true, force: true });
      mkdirSync(data, { recursive: true });
      const { code, output } = await outcomeOf(run('restore'));
      expect(code, output).to.equal(0);
      await using server = await serve();
      const posts = await postsOf(server);
      for (const post of kept) expect(posts.get(post.id)).to.deep.equal(post);
      if (round < 3) kept.push(...(await writeAndCopy(server)));
      times.push(new Date().toISOString());
    }

    // An earlier state, in place, as in docs/deploying.md.
    const [time = ''] = times;
    const args = ['-config', config, '-force', '-timestamp', time, path];
    const { code, output } = await outcomeOf(start(litestream, ['restore', ...args]));
    expect(code, output).to.equal(0);
    await using server = await serve();
    const posts = await postsOf(server);
    for (const post of kept) expect(posts.has(post.id)).to.equal(post.createdAt < time);
    expect(log).to.equal('');
  });
});

/** Returns the number of the newest transaction in a folder of Litestream. */
function newestIn(folder: string): number {
  const names = globSync('*.ltx', { cwd: join(folder, 'ltx/0') });
  return Math.max(0, ...names.map((name) => Number.parseInt(name.split('-').at(-1) ?? '', 16)));
}

async function postsOf({ address }: Server): Promise<Map<string, Post>> {
  const found = new Map<string, Post>();
  const { posts } = createClient({ url: `${address}/api/v1` });
  for await (const post of posts.all()) found.set(post.id, post);
  return found;
}
