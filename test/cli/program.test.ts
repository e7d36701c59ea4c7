import { expect } from 'chai';
import fc from 'fast-check';
import { runProgram } from '../../src/cli/program.ts';
import { defaultSettings, settingsTable } from '../../src/settings/settings.ts';
import { node, outcomeOf, start } from '../support/process.ts';
import { program, rostrum, startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';

describe('the command line', function () {
  this.timeout(60_000);

  it('has the same defaults as the library', () => {
    expect(defaultSettings).to.deep.equal({
      port: 3000,
      host: '127.0.0.1',
      store: 'sqlite:./data/rostrum.db',
      requireIfMatch: false,
      logLevel: 'info',
      metricsPort: undefined,
      metricsHost: '127.0.0.1',
      authKeys: undefined,
      authIssuer: undefined,
      authAudience: undefined,
      authJwksUrl: undefined,
      authSubjectClaim: 'sub',
      anonymous: undefined,
      publicUserFields: [],
      publicUrl: undefined,
      rateLimit: 0,
      trustProxy: 0,
      mcp: false,
      mcpDeletes: false,
      pages: ['home', 'docs', 'admin'],
      cors: [],
      field: [],
      userSchema: undefined,
      postSchema: undefined,
    });
  });

  it('reads settings from the environment; flags win, and empty variables count as not set', async () => {
    const given = { STORE_URL: 'sqlite:/nowhere/x.db', HOST: '', REQUIRE_IF_MATCH: '1' };
    Object.assign(process.env, given);
    try {
      await using server = await startServer('--store=memory:');
      expect(server.readyLine).to.match(/ at http:\/\/127\.0\.0\.1:\d+ on memory:$/);
      const made = await fetch(`${server.address}/api/v1/posts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"title": "On engines"}',
      });
      const path = new URL(made.headers.get('Location') ?? '', server.address);
      expect((await fetch(path, { method: 'DELETE' })).status).to.equal(428);
    } finally {
      for (const name of Object.keys(given)) delete process.env[name];
    }
  });

  it('rejects an empty variable for credentials', async () => {
    const names = Object.values(settingsTable).filter(({ env }) => env.startsWith('AUTH_'));
    expect(names).to.have.length(5);
    for (const { env, flag, allowed } of names) {
      process.env[env] = '';
      try {
        const refusal = await failureOf(runProgram(['--moo']));
        expect(refusal).to.contain(`Option '${flag}' value '' from env '${env}' is invalid.`);
        expect(refusal).to.contain(`The value must be ${allowed}.`);
      } finally {
        delete process.env[env];
      }
    }
  });

  it('lists every setting in --help, with its default and variable', async () => {
    for (const args of [['--help'], ['-h'], ['serve', '-h']]) {
      const { code, stdout } = await rostrum(...args);
      expect(code).to.equal(0);
      for (const { flag, env, fallback, description } of Object.values(settingsTable)) {
        const list = Array.isArray(fallback) && (fallback.join() || 'none');
        const value = list || JSON.stringify(fallback);
        const given = fallback === undefined ? '' : `default: ${value}, `;
        const shown = `${description} (${given}env: ${env})`;
        expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(`${flag} ${shown}`);
      }
    }
  });

  const refused: [RegExp, ...string[]][] = [
    [/^Option '--port <number>' argument 'abc' is invalid\. .* 0 to 65535\./, '--port', 'abc'],
    [/^Option '--port <number>' argument '65536' is invalid/, '--port', '65536'],
    [/^Option '--metrics-port <number>' argument '-1' is invalid/, '--metrics-port=-1'],
    [/^Option '--log-level <level>' argument 'loud' .* info, warn/, '--log-level', 'loud'],
    [/^Option '--require-if-match .*' argument 'yes' .* true, false/, '--require-if-match=yes'],
    [/^Option '--store <url>' argument '' is invalid/, '--store', ''],
    [/^Option '--port <number>' argument missing/, '--port'],
    [/^Unknown option '--prot' \(Did you mean --port\?\)/, '--prot', '1'],
    [/^Unknown option '--stroe=mongodb:\/\/u:\*\*\*@h'/, '--stroe=mongodb://u:secret@h'],
    [/^Unknown command 'moo'\./, 'moo'],
    [/^Unknown command 'serv' \(Did you mean serve\?\)/, 'serv', '--port', '1'],
    [/^Unknown command 'imports' \(Did you mean import\?\)/, 'imports', 'f'],
    [/^Unknown command 'ley' \(Did you mean key\?\)/, 'ley'],
    [/^Unknown command '\*\*\*@h'/, 'u:secret@h'],
    [/^Too many arguments for 'serve'\. .*: export, f\./, '--store', 'x', 'export', 'f'],
    [/^Too many arguments for 'import'.*: a, \*\*\*@h/, 'import', 'a', 'u:secret@h'],
    [/^Missing required argument 'file'/, 'export'],
    [/^Option '--as <list>' argument 'tags' is invalid/, 'import', 'f', '--as', 'tags'],
    [/^Option '--posts <number>' argument '-1' is invalid/, 'seed', '--posts', '-1'],
    [/^Required option '--to <url>' not specified/, 'copy', '--from', 'sqlite:x'],
  ];
  for (const [sentence, ...args] of refused) {
    it(`rejects ${args.join(' ')}`, async () => {
      const said = await failureOf(runProgram(args));
      expect(said).to.match(sentence);
      const named = args[0]?.startsWith('--') ? 'serve' : args[0];
      const command = /^Unknown command/.test(said) ? 'rostrum' : `rostrum ${named}`;
      expect(said).to.match(new RegExp(`^[^\\n]* See ${command} --help\\.$`));
      expect(said).not.to.contain('secret');
    });
  }

  it('rejects the former names of --field', async () => {
    for (const args of [
      ['--index', 'posts.a:text'],
      ['--index=posts.a:text'],
      ['seed', '--index'],
    ]) {
      expect(await failureOf(runProgram(args))).to.match(/^--index is now called --field/);
    }
    process.env.INDEXES = 'posts.a:text';
    const said = await failureOf(runProgram(['check'])).finally(() => delete process.env.INDEXES);
    expect(said).to.match(/^INDEXES is now called FIELDS/);
  });

  it('points to the help of a subcommand', async () => {
    expect(
      await failureOf(runProgram(['key', 'create', '--scopes', 'x', '--auth-keys=k', '--moo'])),
    ).to.match(/^Unknown option '--moo'.* See rostrum key create --help\.$/);
    expect(await failureOf(runProgram(['key', 'lst']))).to.equal(
      "Unknown command 'lst' (Did you mean list?) See rostrum key --help.",
    );
    expect(await failureOf(runProgram(['key']))).to.equal(
      'rostrum key needs one of create, list, revoke. See rostrum key --help.',
    );
  });

  it('exits quietly when the reader of its output is gone', async () => {
    for (const command of ['openapi', '--help']) {
      // The reader exits before the program starts.
      const script = `set -o pipefail; (sleep 0.3; exec "$0" "$1" ${command}) | true`;
      const { code, stderr } = await outcomeOf(
        start('bash', ['-c', script, process.execPath, program]),
      );
      expect([command, code, stderr]).to.deep.equal([command, 141, '']); // As SIGPIPE ends others.
    }
  });

  it('names the variable that has an invalid value', async () => {
    const { code, stdout, stderr } = await node([program], { env: { PORT: 'u:secret@h' } });
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.match(/^Option .* value '\*\*\*@h' from env 'PORT' is invalid\. [^\n]*\n$/);
  });

  it('exits with one sentence and no password, whatever the arguments are', async () => {
    const arg = fc.oneof(
      fc.string(),
      fc.constantFrom('--store', '--port=1', '--', '-x', 'copy', 'mongodb://u:secret@h', 'x'),
      fc.constantFrom('--to', '--from=mongodb://u:secret@h', 'export', 'u:secret@h', '--overwrite'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(arg, { maxLength: 4 }), async (args) => {
        const said = await failureOf(runProgram([...args, '--log-level', 'none']));
        expect(said).not.to.contain('secret');
      }),
    );
    for (const pattern of ['$&', '$$', '$`', "$'"]) {
      const said = await failureOf(runProgram([`mongodb://u:secret@h/${pattern}`]));
      expect(said).to.contain(`mongodb://u:***@h/${pattern}`).and.not.contain('secret');
    }
  });
});
