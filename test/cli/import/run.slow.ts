import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { node, outcomeOf } from '../../support/process.ts';
import { temporaryDirectory } from '../../support/repository-copy.ts';
import { program, rostrum, startCommand } from '../../support/server.ts';
import { user } from '../transfer/records.ts';
import { Imports, lines, text } from './imports.ts';

describe('rostrum import: interruptions and memory', () => {
  const imports = new Imports();

  it('stops at a signal, and counts what it has added', async () => {
    const abort = new AbortController();
    const posts = Array.from({ length: 1700 }, (_, n) => ({ title: `P${n}` }));
    const progress = () => {
      if (imports.added.posts >= 1000) abort.abort();
    };
    const given = { file: 'posts.jsonl', as: 'posts', signal: abort.signal, progress } as const;
    const error = await imports.run(lines(posts), given).catch((reason: unknown) => reason);
    expect(error).to.equal(abort.signal.reason);
    expect((await imports.held()).posts.length)
      .to.equal(imports.added.posts)
      .and.to.be.within(1000, 1500);
  });

  for (const [options, left] of [
    [['--keep-ids'], /^Interrupted: .* adds the rest: 100 users and ([\d,]+) posts are added/],
    [[], /^Interrupted: remove the 100 users and ([\d,]+) posts that are added already: /],
  ] as const) {
    it(`says what to do after an interruption ${options.join()}`.trim(), async function () {
      this.timeout(60_000);
      const users = Array.from({ length: 100 }, (_, n) => ({ ...user(n), id: `u${n}` }));
      const posts = Array.from({ length: 20_000 }, (_, n) => {
        return { id: `p${n}`, title: `P${n}`, authorId: `u${n % 100}` };
      });
      const command = [
        'import',
        imports.write(text({ users, posts })),
        '--store',
        imports.url,
        ...options,
      ];
      const child = startCommand(command);
      const ended = outcomeOf(child);
      while (imports.countOf('posts') === 0) await sleep(5);
      child.kill('SIGINT');
      const { code, stderr } = await ended;
      expect(code).to.equal(1);
      const last = stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(last).to.match(left);
      const count = Number(left.exec(last)?.[1]?.replace(',', ''));
      expect(imports.countOf('posts')).to.equal(count).and.to.be.below(posts.length);
      if (options.length === 0) return;
      const there = `there already: ${(count + 100).toLocaleString('en-US')}`;
      const again = await rostrum(...command);
      expect(again.code).to.equal(0);
      expect(again.stdout.split('\n', 1)[0]).to.match(new RegExp(`^Added .*; ${there}$`));
      expect(imports.countOf('posts')).to.equal(posts.length);
    });
  }

  it('stops at a signal in a dry run without a data file', async () => {
    const users = Array.from({ length: 20_000 }, (_, n) => ({ ...user(n), id: `u${n}` }));
    await imports.store.close();
    imports.store = createMemoryStore();
    const abort = new AbortController();
    const progress = () => abort.abort();
    const running = imports.run({ users }, { dryRun: true, signal: abort.signal, progress });
    expect(await running.catch((reason: unknown) => reason)).to.equal(abort.signal.reason);
  });

  it('leaves no temporary file, even after an interruption', async () => {
    // A separate folder, because other imports can be running.
    const before = process.env.TMPDIR;
    await using temporary = await temporaryDirectory();
    process.env.TMPDIR = temporary.path;
    try {
      const abort = new AbortController();
      let during: string[] = [];
      const progress = () => {
        during = readdirSync(temporary.path);
        abort.abort();
      };
      const given = { as: 'posts', signal: abort.signal, progress } as const;
      await imports.run([{ title: 'A' }], given).catch(() => {});
      await imports.run([{ title: 'A' }], { as: 'posts' });
      expect(during, 'during the import').to.have.length(1);
      expect(readdirSync(temporary.path)).to.deep.equal([]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });

  it('imports a JSON Lines file larger than the heap', async function () {
    this.timeout(60_000);
    const posts = Array.from({ length: 120 }, (_, n) => ({
      title: `P${n}`,
      own: 'x'.repeat(500_000),
    }));
    const path = imports.write(lines(posts), 'posts.jsonl');
    const heap = '--max-old-space-size=40';
    const { code, output } = await node([
      heap,
      program,
      'import',
      path,
      '--as=posts',
      '--store',
      imports.url,
    ]);
    expect(code, output).to.equal(0);
  });
});
