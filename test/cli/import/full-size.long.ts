import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { outcomeOf } from '../../support/process.ts';
import { rostrum, startCommand } from '../../support/server.ts';
import { authors, postLines, postsCsv } from './cms.ts';
import { Imports, text } from './imports.ts';

describe('rostrum import, as large as people have it', () => {
  const imports = new Imports();
  const linesOf = (output: string) => output.trimEnd().split('\n').length;

  it('says in 25 lines what is wrong with 95 of 5,000 rows, and its report has all of them', async () => {
    const users = imports.write(text(authors(30)), 'users.json');
    const to = ['--store', imports.url, '--skip-invalid', '--keep-ids'];
    await rostrum('import', users, '--as', 'users', ...to);
    const posts = imports.write(postsCsv(5000, 95, 30), 'posts.csv');
    const report = join(imports.folder, 'bad.csv');
    const names =
      'post_title=title post_author=authorId post_content=body ID=id post_date=createdAt';
    const map = names.split(' ').flatMap((name) => ['--map', name]);
    const options = ['--time-zone', 'Europe/Berlin', '--type', 'hits=number', '--report', report];
    const begun = performance.now();
    const found = await rostrum('import', posts, '--as', 'posts', ...to, ...map, ...options);
    console.log(found.stdout, `${Math.round(performance.now() - begun)} ms`);
    expect([found.code, linesOf(found.stdout)]).to.deep.equal([2, 24]);
    expect(readFileSync(report, 'utf8').match(/^line \d+,/gm)).to.have.length(95);
    expect(imports.countOf('posts')).to.equal(4905);
  });

  it('takes 200,000 JSON Lines up again where it was interrupted twice', async () => {
    const path = join(imports.folder, 'posts.jsonl');
    await pipeline(Readable.from(postLines(200_000)), createWriteStream(path));
    const args = ['import', path, '--as', 'posts', '--keep-ids', '--store', imports.url];
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
      expect(linesOf(stdout)).to.be.at.most(25);
    }
    expect(imports.countOf('posts')).to.equal(200_000);
  });
});
