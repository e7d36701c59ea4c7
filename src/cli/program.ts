import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { CredentialsError } from '../adapters/credentials/index.ts';
import { SchemaFileError } from '../adapters/json-schema/index.ts';
import { type Setting, type Settings, settingsTable } from '../settings/settings.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import type { CheckFlags } from './check.ts';
import type { CopyFlags } from './copy.ts';
import { Failure, type StoreSetting } from './failure.ts';
import type { ImportFlags } from './import.ts';
import type { KeyFileOption, NewKey } from './key.ts';
import { version } from './package.ts';
import type { SeedFlags } from './seed.ts';

/**
 * Runs the command that the arguments name, with settings from flags and from the environment. A
 * flag wins. An empty variable counts as absent, unless it is about credentials: ignoring it would
 * start a server that requires none.
 *
 * @throws Failure in one sentence, without a password
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  for (const { env } of Object.values(settingsTable)) {
    if (process.env[env] === '' && !env.startsWith('AUTH_')) delete process.env[env];
  }
  const program = createProgram();
  try {
    // Settings alone are those of a server.
    const isCommand = /^(?:[^-]|-h$|--help$|--version$)/.test(args[0] ?? '');
    await program.parseAsync(isCommand ? args : ['serve', ...args], { from: 'user' });
  } catch (error) {
    // A file of keys or of a schema: what is wrong with it is one sentence.
    const isSentence = error instanceof CredentialsError || error instanceof SchemaFileError;
    if (isSentence) throw new Failure(error.message);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return;
    const { name, commands } = namedBy(program, args);
    const choices = `${name} needs one of ${commands.map((one) => one.name()).join(', ')}.`;
    const said = error.code === 'commander.help' ? choices : sentence(error.message, args);
    throw new Failure(`${said} See ${name} --help.`);
  }
}

/** The command that the arguments name: `rostrum key create`. */
function namedBy(
  command: Command,
  args: readonly string[],
  before = '',
): { name: string; commands: readonly Command[] } {
  const name = `${before}${command.name()}`;
  const named = command.commands.find((one) => one.name() === args[0]);
  return named === undefined
    ? { name, commands: command.commands }
    : namedBy(named, args.slice(1), `${name} `);
}

const ended = `
Exit codes: 0 for success; 1 for a failure, which the last line explains; 2 if records
were rejected (import, check).
`;

const copied = `
Copies ids, versions, times and the ids of deleted records, not idempotency keys.
The target must not contain other records; --overwrite removes them.
If a copy is interrupted, run it again to copy the rest. Until then, no server
serves the target. Both sides are compared at the end. A server can keep writing to
the source; if it does, run the copy again to copy its changes.`;

const exported = `
rostrum import --keep-ids reads the file: ids, times and fields are in it,
versions (ETags) are not. A server may run meanwhile.`;

const imported = `
FILE is CSV with a header (.csv, .tsv, .txt), JSON ({"users": […], "posts": […]} or
an array), JSON Lines (.jsonl) or an export; - is standard input. For files whose
columns are not Rostrum's fields, write a transform: docs/moving-in.md has some for
WordPress, Ghost, Substack, Mastodon, MongoDB and spreadsheets.
All records are checked before any is added. With --keep-ids, run an interrupted
import again, and it adds the rest. Without, a second import adds all records a
second time. A server can keep running.`;

const restored = `
A server may run meanwhile, and serves what is in the backup from then on. A data file
that cannot be opened is moved to FILE.damaged: stop its servers first. Everything that
was written after the backup is lost, and versions (ETags) go back.`;

function createProgram(): Command {
  const program = new Command('rostrum')
    .description('Serves users and posts over HTTP, under /api/v1.')
    .version(version(), '--version', 'print the version')
    .exitOverride()
    .configureOutput({ outputError() {}, writeErr() {} });

  const serve = program
    .command('serve')
    .description('serve over HTTP; the default command')
    .action(async (settings: Settings) => {
      const { serveCommand } = await import('./serve.ts');
      await serveCommand(settings, (name) => givenName(serve, name));
    });
  for (const setting of Object.values(settingsTable)) serve.addOption(optionOf(setting));
  program.addHelpText('after', () => `\n${serve.helpInformation()}${ended}`);

  const describe = program
    .command('openapi')
    .description('print the OpenAPI 3.1 description that a server with these settings serves')
    .action(async (settings: Settings) => {
      const { openApiCommand } = await import('./openapi.ts');
      await openApiCommand(settings, (name) => givenName(describe, name));
    });
  for (const [name, setting] of Object.entries(settingsTable)) {
    // Taken, so that the flags of a server can be given as they are, and without effect.
    const isUsed = !['port', 'store', 'logLevel', 'metricsPort', 'metricsHost'].includes(name);
    describe.addOption(optionOf(setting).hideHelp(!isUsed));
  }

  program
    .command('copy')
    .description('copy one store to another')
    .requiredOption('--from <url>', 'store to read')
    .requiredOption('--to <url>', 'store to write')
    .option('--overwrite', 'remove records that the source does not have')
    .addHelpText('after', copied)
    .action(async (options: CopyFlags) => {
      const { copyCommand } = await import('./copy.ts');
      await copyCommand(options);
    });

  withSettings(program.command('export <file>'), 'store')
    .description('write all records to a JSON Lines file')
    .addHelpText('after', exported)
    .action(async (file: string, _options: unknown, command: Command) => {
      const { exportCommand } = await import('./export.ts');
      await exportCommand(file, storeOf(command));
    });

  withSettings(program.command('check'), 'store', 'index', 'userSchema', 'postSchema')
    .description('list the stored records that break a schema, or a declaration of --index')
    .addHelpText('after', '\nThe exit code is 2 when there are some. Nothing is changed.')
    .action(async (options: CheckFlags, command: Command) => {
      const { checkCommand } = await import('./check.ts');
      await checkCommand(storeOf(command), options, givenName(command, 'index'));
    });

  withSettings(program.command('import <file>'), 'store', 'index', 'userSchema', 'postSchema')
    .description('add users and posts from JSON, JSON Lines or CSV')
    .addOption(
      new Option('--as <list>', 'collection that an array, JSON Lines or CSV contains').choices([
        'users',
        'posts',
      ]),
    )
    .option('--transform <file>', 'module (.ts, .js) whose functions turn rows into records')
    .option('--drafts', 'import posts without publishedAt as drafts')
    .option('--keep-ids', 'keep ids, createdAt and updatedAt')
    .addOption(
      new Option('--restore-deleted', 'like --keep-ids, and add deleted records again').implies({
        keepIds: true,
      }),
    )
    .option('--skip-invalid', 'add the valid records even if others are rejected')
    .option('--dry-run', 'check everything, and add nothing')
    .option('--report <file>', 'write all refused records into a .jsonl file')
    .addHelpText('after', imported)
    .action(async (file: string, options: ImportFlags, command: Command) => {
      const { importCommand } = await import('./import.ts');
      await importCommand(file, storeOf(command), options, givenName(command, 'index'));
    });

  withSettings(program.command('seed'), 'store', 'userSchema', 'postSchema')
    .description('add sample users and posts')
    .option('--users <number>', 'how many users', countOf, 10)
    .option('--posts <number>', 'how many posts', countOf, 100)
    .addHelpText('after', '\nA server may run meanwhile.')
    .action(async (options: SeedFlags, command: Command) => {
      const { seedCommand } = await import('./seed.ts');
      await seedCommand(storeOf(command), options);
    });

  withSettings(program.command('backup <file>'), 'store')
    .description('copy the file of an SQLite store while its server runs')
    .addHelpText('after', '\nThe file is an SQLite store as of the moment when the backup began.')
    .action(async (file: string, _options: unknown, command: Command) => {
      const { backupCommand } = await import('./backup.ts');
      await backupCommand(file, storeOf(command));
    });

  withSettings(program.command('restore <file>'), 'store')
    .description('replace the contents of an SQLite store with a backup')
    .addHelpText('after', restored)
    .action(async (file: string, _options: unknown, command: Command) => {
      const { restoreCommand } = await import('./restore.ts');
      await restoreCommand(file, storeOf(command));
    });

  addKeyCommands(program.command('key').description('create, list and revoke API keys'));
  return program;
}

function addKeyCommands(key: Command): void {
  withSettings(key.command('create'), 'authKeys')
    .description('create a key and print its token (shown only once)')
    .requiredOption('--scopes <list>', 'scopes of the key, such as users:read,posts:write:own')
    .option('--name <text>', 'label of the key, shown by key list')
    .option('--subject <id>', 'id of the user that the key belongs to')
    .option('--expires <when>', 'such as 90d, 12h or 2027-01-01')
    .action(async (options: NewKey) => {
      const { createKeyCommand } = await import('./key.ts');
      createKeyCommand(options);
    });
  withSettings(key.command('list'), 'authKeys')
    .description('list the keys with their dates and names, without their tokens')
    .action(async (options: KeyFileOption) => {
      const { listKeysCommand } = await import('./key.ts');
      listKeysCommand(options);
    });
  withSettings(key.command('revoke <id>'), 'authKeys')
    .description('revoke a key; a running server notices within a second')
    .action(async (id: string, options: KeyFileOption) => {
      const { revokeKeyCommand } = await import('./key.ts');
      revokeKeyCommand(id, options);
    });
}

function withSettings(command: Command, ...names: readonly (keyof Settings)[]): Command {
  for (const name of names) command.addOption(optionOf(settingsTable[name]));
  return command;
}

function countOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('The value must be a whole number from 0 to 999999999.');
}

function optionOf(setting: Setting<unknown>): Option {
  const { flag, env, fallback, description, allowed, parse, isList } = setting;
  return new Option(flag, description)
    .env(env)
    .default(fallback, Array.isArray(fallback) ? fallback.join() || 'none' : undefined)
    .argParser((text, before) => {
      const value = parse(text);
      if (value === undefined) throw new InvalidArgumentError(`The value must be ${allowed}.`);
      return isList ? [before, value].flat() : value;
    });
}

/** The name by which a setting was given: `PORT` when the environment gave it, else `--port`. */
function givenName(command: Command, name: keyof Settings): string {
  const { flag, env } = settingsTable[name];
  const [long = flag] = flag.split(' ');
  return command.getOptionValueSource(name) === 'env' ? env : long;
}

function storeOf(command: Command): StoreSetting {
  return { setting: givenName(command, 'store'), url: command.getOptionValue('store') };
}

/** The library's message as a sentence. What was typed may hold a password. */
function sentence(message: string, args: readonly string[]): string {
  const typed = [...args, ...Object.values(settingsTable).map(({ env }) => process.env[env] ?? '')];
  const shown = typed.reduce((text, part) => text.replaceAll(part, redact(part)), message);
  const text = shown.replace(/^error: (.)/, (_, first: string) => first.toUpperCase());
  return text.replaceAll('\n', ' ').replace(/[.?)]?$/, (end) => end || '.');
}

/** Redacts an argument: a URL, or a flag with one behind its `=`. */
function redact(part: string): string {
  const [, flag = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(part) ?? [];
  return flag + redactStoreUrl(value);
}
