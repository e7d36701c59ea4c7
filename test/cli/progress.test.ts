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
  it('is a line at the end of each part, where there is no terminal', async () => {
    const { stream, read } = streamOf(false);
    const progress = await createProgress(stream);
    for (const what of ['users', 'posts']) {
      progress.begin(what, 10);
      for (let i = 0; i < 10; i++) progress.advance(1);
      progress.end();
    }
    expect(read()).to.equal('users: 10 of 10\nposts: 10 of 10\n');
  });

  it('is a line every few seconds as well', async () => {
    const { stream, read } = streamOf(false);
    const progress = await createProgress(stream);
    const { now } = Date;
    const begun = now();
    Date.now = () => begun;
    try {
      progress.begin('posts', 100);
      for (let second = 1; second <= 6; second++) {
        Date.now = () => begun + second * 1000;
        progress.advance(10);
      }
    } finally {
      Date.now = now;
    }
    expect(read()).to.equal('posts: 20 of 100\nposts: 40 of 100\nposts: 60 of 100\n');
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
