import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { createProgress } from '../../src/cli/run-long.ts';

describe('progress', () => {
  it('prints a line every ten seconds', () => {
    const stream = new PassThrough();
    const { now } = Date;
    const begun = now();
    Date.now = () => begun;
    try {
      const progress = createProgress(stream);
      for (let second = 1; second <= 39; second++) {
        Date.now = () => begun + second * 1000;
        if (second < 25) progress('users', second * 100, 2500);
        else progress('checked', second);
      }
    } finally {
      Date.now = now;
    }
    expect(String(stream.read())).to.equal(
      'users: 1,000 of 2,500\nusers: 2,000 of 2,500\nchecked: 30\n',
    );
  });
});
