import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createProgress } from '../../src/cli/progress.ts';

/** A stream that keeps what is written to it; it may be a terminal. */
function streamOf(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    columns: 120,
    cursorTo() {},
    clearLine() {},
    moveCursor() {},
  });
  const read = () => String(stream.read() ?? '');
  return { stream: stream as unknown as NodeJS.WriteStream, read };
}

describe('progress', () => {
  it('is a line every ten seconds, where there is no terminal, and at the end of what took as long', async () => {
    const { stream, read } = streamOf(false);
    const progress = await createProgress(stream);
    const { now } = Date;
    const begun = now();
    Date.now = () => begun;
    try {
      for (const [what, seconds] of [
        ['users', 9],
        ['posts', 25],
      ] as const) {
        progress.begin(what, 100);
        for (let second = 1; second <= seconds; second++) {
          Date.now = () => begun + second * 1000;
          progress.advance(4);
        }
        progress.end();
        Date.now = () => begun;
      }
    } finally {
      Date.now = now;
    }
    expect(read()).to.equal('posts: 40 of 100\nposts: 80 of 100\nposts: 100 of 100\n');
  });

  it('is a bar on a terminal', async () => {
    const { stream, read } = streamOf(true);
    const progress = await createProgress(stream);
    progress.begin('posts', 4);
    progress.advance(3);
    progress.end();
    expect(read()).to.match(/posts .*75 % \| 3 of 4/s);
  });

  it('is a bar without a time while none can be told', async () => {
    const { stream, read } = streamOf(true);
    const progress = await createProgress(stream);
    progress.begin('posts', 4);
    progress.advance(0);
    progress.end();
    expect(read()).to.match(/0 of 4 \| --:-- left/);
  });
});
