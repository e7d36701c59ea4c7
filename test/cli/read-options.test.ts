import { expect } from 'chai';
import fc from 'fast-check';
import { helpText } from '../../src/cli/help.ts';
import { options } from '../../src/cli/options.ts';
import { readOptions } from '../../src/cli/read-options.ts';
import { SettingError } from '../../src/cli/setting-error.ts';

function read(args: string[], env: Record<string, string> = {}) {
  return readOptions(options, args, env).values;
}

function refusal(args: string[], env: Record<string, string> = {}): string {
  try {
    read(args, env);
  } catch (error) {
    if (error instanceof SettingError) return error.message;
    throw error;
  }
  return 'not refused';
}

describe('settings', () => {
  it('have defaults', () => {
    expect(read([])).to.deep.equal({
      port: 3000,
      host: '127.0.0.1',
      store: 'sqlite:./data/rostrum.db',
      requireIfMatch: false,
      logLevel: 'info',
    });
  });

  it('come from flags and the environment, and a flag wins', () => {
    const env = { PORT: '1', STORE_URL: 'memory:', REQUIRE_IF_MATCH: 'true', HOST: '' };
    expect(read(['--port', '2', '--host=::1'], env)).to.deep.include({
      port: 2,
      host: '::1',
      store: 'memory:',
      requireIfMatch: true,
    });
    expect(read(['--require-if-match']).requireIfMatch).to.equal(true);
    expect(read([], { HOST: '' }).host).to.equal('127.0.0.1');
  });

  it('are named as they were said', () => {
    const { said } = readOptions(options, ['--port', '2'], { PORT: '1', HOST: '::1' });
    expect(said).to.deep.include({ port: '--port', host: 'HOST', store: '--store' });
  });

  it('that are wrong are named, with what they were and what to do', () => {
    expect(refusal(['--port', 'abc'])).to.equal(
      '--port is "abc", and it has to be a whole number from 0 to 65535: ' +
        'set --port or PORT, or leave both out for 3000.',
    );
    expect(refusal([], { PORT: '65536' })).to.match(/^PORT is "65536", /);
    expect(refusal([], { REQUIRE_IF_MATCH: 'yes' })).to.match(/true or false/);
    expect(refusal(['--log-level', 'loud'])).to.match(/info, warn/);
    expect(refusal(['--bogus'])).to.match(/--bogus.*--help/);
    expect(refusal(['extra'])).to.match(/extra.*--help/);
    expect(refusal(['--port'])).to.match(/--port.*--help/);
  });

  it('end in values or in one sentence, whatever they are', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 3 }), fc.string(), (args, port) => {
        try {
          read(args, { PORT: port });
        } catch (error) {
          expect(error).to.be.instanceOf(SettingError);
        }
      }),
    );
  });

  it('are all in the help, with their defaults', () => {
    for (const { flag, env, fallback } of Object.values(options)) {
      expect(helpText()).to.match(new RegExp(`--${flag} .*${env} .*${String(fallback)}`));
    }
  });
});
