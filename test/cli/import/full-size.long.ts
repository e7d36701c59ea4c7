import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { outcomeOf } from '../../support/process.ts';
import { startCommand } from '../../support/server.ts';
import { contentOf } from '../transfer/records.ts';
import { Imports } from './imports.ts';
import { postLines } from './post-lines.ts';

describe('rostrum import, at full size', () => {
  const imports = new Imports();

  it('resumes an import of 200,000 JSON Lines with a transform after SIGINT and SIGKILL', async () => {
    const path = join(imports.folder, 'posts.jsonl');
    await pipeline(Readable.from(postLines(200_000)), createWriteStream(path));
    const module = `export const posts = ({ id, title, body, createdAt }, { instant }) =>
      ({ id, title: title + '!', body, createdAt: instant(createdAt), publishedAt: null });`;
    const transform = imports.write(module, 'transform.mjs');
    const args = ['import', path, '--transform', transform, '--keep-ids', '--store', imports.url];
    for (const [until, signal] of [
      [60_000, 'SIGINT'],
      [130_000, 'SIGKILL'],
      [200_000, undefined],
    ] as const) {
      const begun = performance.now();
      const child = startCommand(args);
      const ended = outcomeOf(child);
      while (signal && imports.countOf('posts') < until) await sleep(50);
      if (signal) child.kill(signal);
      const { code, stdout, stderr } = await ended;
      console.log(`${signal}: ${Math.round(performance.now() - begun)} ms\n${stdout}${stderr}`);
      expect(code).to.equal(signal === 'SIGINT' ? 1 : signal ? null : 0);
    }
    const store = openSqliteStore({ path: imports.dataFile });
    const { posts } = await contentOf(store);
    await store.close();
    const ids = posts.map(({ record }) => Number(record.id)).sort((a, b) => a - b);
    expect(ids).to.deep.equal(Array.from({ length: 200_000 }, (_, n) => n));
    expect(posts.every(({ record }) => record.title === `Post ${record.id}!`)).to.equal(true);
  });
});
