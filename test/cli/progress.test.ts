import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createProgress } from '../../src/cli/progress.ts';

/** Returns what progress writes about two parts of 100 steps that take the given seconds. */
function written(isTTY: boolean): string {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const progress = createProgress(stream as unknown as NodeJS.WriteStream);
  const { now } = Date;
  const begun = now();
  Date.now = () => begun;
  try {
    for (const [what, seconds] of [
      ['users', 9],
      ['posts', 25],
    ] as const) {
      progress.begin(what, 2500);
      for (let second = 1; second <= seconds; second++) {
        Date.now = () => begun + second * 1000;
        progress.advance(100);
      }
      progress.end();
      Date.now = () => begun;
    }
  } finally {
    Date.now = now;
  }
  progress.end();
  return String(stream.read());
}

describe('progress', () => {
  it('prints a line every ten seconds without a terminal, and at the end of long parts', () => {
    expect(written(false)).to.equal(
      'posts: 1,000 of 2,500 (40 %)\nposts: 2,000 of 2,500 (80 %)\nposts: 2,500 of 2,500 (100 %)\n',
    );
  });

  it('updates one line on a terminal, and removes it at the end', () => {
    const erased = '\u001b[1G\u001b[2K';
    const lines = written(true).split(erased);
    expect(lines.slice(0, 2)).to.deep.equal([
      'users: 100 of 2,500 (4 %)',
      'users: 200 of 2,500 (8 %)',
    ]);
    expect(lines.slice(-3)).to.deep.equal([
      'posts: 2,400 of 2,500 (96 %)',
      'posts: 2,500 of 2,500 (100 %)',
      '',
    ]);
    expect(lines).to.have.length(9 + 25 + 1);
  });
});
