import { expect } from 'chai';
import { type Logger, safeLogger } from '../../src/ports/index.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

describe('safeLogger', () => {
  it('calls the logger’s methods with this', () => {
    class Lines implements Logger {
      readonly lines: unknown[] = [];
      debug(...line: unknown[]) {
        this.lines.push(['debug', ...line]);
      }
      info(...line: unknown[]) {
        this.lines.push(['info', ...line]);
      }
      warn(...line: unknown[]) {
        this.lines.push(['warn', ...line]);
      }
      error(...line: unknown[]) {
        this.lines.push(['error', ...line]);
      }
    }
    const host = new Lines();
    const logger = safeLogger(host);
    for (const level of levels) logger[level]?.({ n: 1 }, 'Hello.');
    expect(host.lines).to.deep.equal(levels.map((level) => [level, { n: 1 }, 'Hello.']));
  });

  it('drops lines if the logger throws, rejects, is incomplete or missing', async () => {
    const throwing = () => {
      throw new Error('The log is closed.');
    };
    const rejecting = async () => throwing();
    const odd = { info: null } as unknown as Logger;
    const all: (Logger | undefined)[] = [
      { debug: throwing, info: throwing, warn: throwing, error: throwing },
      { debug: rejecting, info: rejecting, warn: rejecting, error: rejecting },
      odd,
      undefined,
    ];
    const rejections: unknown[] = [];
    const note = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', note);
    try {
      for (const logger of all) {
        for (const level of levels) {
          expect(safeLogger(logger)[level]?.({}, 'Hello.')).to.equal(undefined);
        }
      }
      await new Promise(setImmediate);
    } finally {
      process.off('unhandledRejection', note);
    }
    expect(rejections).to.deep.equal([]);
  });
});
