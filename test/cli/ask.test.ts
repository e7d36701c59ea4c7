import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { ask, type Terminal } from '../../src/cli/ask.ts';

/** A terminal on which something is typed. */
function terminal(typed: string, isTTY = true) {
  const [stdin, stderr] = [new PassThrough(), new PassThrough()];
  for (const stream of [stdin, stderr]) Object.assign(stream, { isTTY, columns: 80 });
  stdin.end(typed);
  return { parts: { stdin, stderr } as unknown as Terminal, shown: () => String(stderr.read()) };
}

describe('a question to a person', () => {
  const { signal } = new AbortController();

  it('takes nothing but a yes for a yes', async () => {
    for (const [typed, expected] of [
      ...[['y\n', true] as const, ['YES\n', true] as const, [' y \n', true] as const],
      ...[['n\n', false] as const, ['\n', false] as const, ['yesterday\n', false] as const],
      ['', false] as const,
    ]) {
      const { parts, shown } = terminal(typed);
      expect(await ask('Lose them?', signal, parts), text(typed)).to.equal(expected);
      expect(shown()).to.contain('Lose them? [y/N] ');
    }
  });

  it('is not asked where there is no terminal', async () => {
    const { parts } = terminal('y\n', false);
    expect(await ask('Lose them?', signal, parts)).to.equal(undefined);
  });

  it('ends with the command', async () => {
    const abort = new AbortController();
    const { parts } = terminal('y\n');
    abort.abort();
    const error = await ask('Lose them?', abort.signal, parts).catch((reason: unknown) => reason);
    expect(error).to.have.property('name', 'AbortError');
  });
});

const text = (typed: string) => JSON.stringify(typed);
