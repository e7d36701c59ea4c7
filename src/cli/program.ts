import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { SchemaFiles } from '../adapters/json-schema/index.ts';
import { checkPublicUserFields } from '../domain/records/user.ts';
import {
  declaredFieldsOf,
  type Setting,
  type Settings,
  settingsTable,
} from '../settings/settings.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import type { CopyFlags } from './copy.ts';
import { Failure, fileFailure, type StoreSetting } from './failure.ts';
import type { ImportFlags } from './import.ts';
import type { KeyFileOption, NewKey } from './key.ts';
import { manifest } from './package.ts';
import type { SeedFlags } from './seed.ts';

/**
 * Runs a command with settings from flags and environment variables; a flag wins. An empty variable
 * counts as not set, unless it is about credentials: ignoring one of those would start a server that
 * requires none.
 *
 * @throws Failure with one sentence, without passwords
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  checkRenamed(args);
  for (const { env } of Object.values(settingsTable)) {
    if (process.env[env] === '' && !env.startsWith('AUTH_')) delete process.env[env];
  }
  // Settings without a command are those of a server.
  const isCommand = /^(?:[^-]|-h$|--help$|--version$)/.test(args[0] ?? '');
  try {
    await createProgram().parseAsync(isCommand ? args : ['serve', ...args], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    if (error instanceof CommanderError) throw new Failure(redacted(error.message, args));
    // By name: their classes would have to be loaded at every start.
    const isSentence =
      error instanceof Error && /^(?:Credentials|SchemaFile)Error$/.test(error.name);
    throw isSentence ? new Failure(error.message) : (fileFailure(error) ?? error);
  }
}

/** Rejects the former names of `--field`: ignoring them would drop unique rules without a word. */
function checkRenamed(args: readonly string[]): void {
  if (args.some((arg) => /^--index(?:=|$)/.test(arg))) {
    throw new Failure('--index is now called --field, with the same values.');
  }
  if (process.env.INDEXES) throw new Failure('INDEXES is now called FIELDS, with the same values.');
}

/** A command whose errors are sentences that end with how to get help. */
class ProgramCommand extends Command {
  override createCommand(name?: string): ProgramCommand {
    return new ProgramCommand(name);
  }

  override error(message: string): never {
    const text = message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase());
    const said = text.replaceAll('\n', ' ').replace(/[.?)]?$/, (end) => end || '.');
    throw new CommanderError(1, 'usage', `${said} See ${this.#path} --help.`);
  }

  override help(context?: unknown): never {
    if (!Object(context).error) return super.help();
    const names = this.commands.map((command) => command.name()).join(', ');
    return this.error(`${this.#path} needs one of ${names}`);
  }

  /** Such as `rostrum key create`. */
  get #path(): string {
    let path = this.name();
    for (let one = this.parent; one !== null; one = one.parent) path = `${one.name()} ${path}`;
    return path;
  }
}

const exitCodesHelp = `
Exit codes:
  0  success
  1  failure; the last line of output says why
  2  records were rejected (import) or are invalid (check)
`;

const copyHelp = `
Copies records with their ids, versions and times, and the ids of deleted records.
Idempotency keys and events are not copied. The command ends by reading both stores
again and comparing them.

If the target has other records, the command fails unless you use --overwrite.
If it is interrupted, run it again to copy the rest. Until then, servers refuse to
serve the target. You can keep writing to the source: run the command again to copy
the changes.`;

const exportHelp = `
The name of the file must end in .jsonl or .ndjson; use - for standard output.
rostrum import --keep-ids imports the file with the same ids and times. It does not
contain versions (ETags). A server can keep running.`;

const importHelp = `
The file can be:
  .csv, .tsv, .txt   CSV with a row of headings
  .jsonl, .ndjson    JSON Lines, such as those that rostrum export writes
  .json              {"users": […], "posts": […]}, or an array
  -                  standard input

If its columns don't have the names of Rostrum's fields, write a transform. In Rostrum's
repository, docs/moving-in.md has examples for other programs.

All records are checked before any is added. With --keep-ids, you can repeat an
interrupted import: it skips the records that it has added already. Without --keep-ids,
it adds them a second time. A server can keep running.`;

const restoreHelp = `
Everything that was written after the backup is lost, and versions (ETags) go back.
A server can keep running, and serves the backup from then on. A data file that cannot
be opened is renamed to FILE.damaged: stop the servers that use it first.`;

function createProgram(): Command {
  const { name, version } = manifest();
  const program = new ProgramCommand(name)
    .description('Serves users and posts over HTTP, under /api/v1.')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .hook('preAction', (_program, command) => checkFields(command));

  const allSettings = Object.keys(settingsTable) as (keyof Settings)[];
  const serve = withSettings(program.command('serve'), ...allSettings)
    .description('start the server (the default command)')
    .action(async (settings: Settings) => {
      await (await import('./serve.ts')).serveCommand(settings, (name) => givenName(serve, name));
    });
  program.addHelpText('after', () => `\n${serve.helpInformation()}${exitCodesHelp}`);

  const openapi = withSettings(program.command('openapi'), ...allSettings)
    .description('print the OpenAPI 3.1 description of a server with these settings')
    .addHelpText('after', '\nDoes not open the store or any port.')
    .action(async (settings: Settings) => {
      const { openApiCommand } = await import('./openapi.ts');
      await openApiCommand(settings, (name) => givenName(openapi, name));
    });

  program
    .command('copy')
    .description('copy all records from one store to another')
    .requiredOption('--from <url>', 'store to read')
    .requiredOption('--to <url>', 'store to write')
    .option('--overwrite', "remove or replace the target's other records")
    .addHelpText('after', copyHelp)
    .action(async (flags: CopyFlags) => (await import('./copy.ts')).copyCommand(flags));

  withSettings(program.command('export <file>'), 'store')
    .description('write all records to a JSON Lines file')
    .addHelpText('after', exportHelp)
    .action(async (file: string, _flags: unknown, command: Command) => {
      await (await import('./export.ts')).exportCommand(file, storeOf(command));
    });

  withSettings(program.command('check'), 'store', 'userSchema', 'postSchema')
    .description('list the stored records that break a rule or a schema')
    .addHelpText('after', '\nExits with code 2 if there are any. Changes nothing.')
    .action(async (flags: SchemaFiles, command: Command) => {
      await (await import('./check.ts')).checkCommand(storeOf(command), flags);
    });

  const as = new Option('--as <list>', 'the collection that an array, JSON Lines or CSV contains');
  const ignore = new Option('--ignore-column <name>', 'leave a column out; can be repeated');
  const restore = new Option('--restore-deleted', 'like --keep-ids, and add deleted records again');
  withSettings(program.command('import <file>'), 'store', 'field', 'userSchema', 'postSchema')
    .description('add users and posts from a CSV, JSON or JSON Lines file')
    .addOption(as.choices(['users', 'posts']))
    .option('--transform <file>', 'module (.ts, .js) with functions that turn rows into records')
    .option('--drafts', 'import posts without publishedAt as drafts')
    .option('--keep-ids', 'keep id, createdAt and updatedAt')
    .addOption(restore.implies({ keepIds: true }))
    .option('--match-stored-authors', 'find authors by email address in the store, too')
    .addOption(ignore.argParser((name: string, names: string[] = []) => [...names, name]))
    .option('--skip-invalid', 'add the valid records even if others are rejected')
    .option('--dry-run', 'check the file and add nothing')
    .option('--report <file>', 'write all rejected records to a .jsonl file')
    .addHelpText('after', importHelp)
    .action(async (file: string, flags: ImportFlags, command: Command) => {
      await (await import('./import.ts')).importCommand(file, storeOf(command), flags);
    });

  withSettings(program.command('seed'), 'store', 'userSchema', 'postSchema')
    .description('add sample users and posts')
    .option('--users <number>', 'number of users', countOf, 10)
    .option('--posts <number>', 'number of posts', countOf, 100)
    .addHelpText('after', '\nA server can keep running.')
    .action(async (flags: SeedFlags, command: Command) => {
      await (await import('./seed.ts')).seedCommand(storeOf(command), flags);
    });

  withSettings(program.command('backup <file>'), 'store')
    .description('back up an SQLite store while its server runs')
    .addHelpText('after', '\nThe backup contains the store as it was when the command started.')
    .action(async (file: string, _flags: unknown, command: Command) => {
      await (await import('./backup.ts')).backupCommand(file, storeOf(command));
    });

  withSettings(program.command('restore <file>'), 'store')
    .description('replace everything in an SQLite store with a backup')
    .addHelpText('after', restoreHelp)
    .action(async (file: string, _flags: unknown, command: Command) => {
      await (await import('./backup.ts')).restoreCommand(file, storeOf(command));
    });

  const fields = 'list, add, change and remove the declared fields of a database';
  addFieldCommands(program.command('field').description(fields));
  addKeyCommands(program.command('key').description('create, list and revoke API keys'));
  return program;
}

const fieldHelp = `
A server can keep running. It rejects wrong values at once, and uses a declaration in
filters, sorts and descriptions after its next start.`;

function addFieldCommands(field: Command): void {
  const { parse, allowed } = settingsTable.field;
  const declaration = (text: string, before: readonly string[] = []) => {
    const fields = parse(text);
    if (fields === undefined) throw new InvalidArgumentError(`The value must be ${allowed}.`);
    return [...before, ...fields];
  };
  const add = (name: string, description: string) =>
    withSettings(field.command(name), 'store').description(description);
  add('list', 'list the declared fields').action(async (_flags: unknown, command: Command) => {
    await (await import('./field.ts')).listFieldsCommand(storeOf(command));
  });
  add('add', 'declare fields')
    .argument('<declarations...>', 'such as posts.slug:text:unique', declaration)
    .addHelpText('after', fieldHelp)
    .action(async (declarations: readonly string[], _flags: unknown, command: Command) => {
      await (await import('./field.ts')).addFieldsCommand(storeOf(command), declarations);
    });
  add('set', 'change the type of a declared field, or whether it is unique')
    .argument('<declaration>', 'such as posts.slug:text', declaration)
    .addHelpText('after', fieldHelp)
    .action(async ([declaration = '']: readonly string[], _flags: unknown, command: Command) => {
      await (await import('./field.ts')).setFieldCommand(storeOf(command), declaration);
    });
  add('remove', 'remove a declaration, and keep the values')
    .argument('<field>', 'such as posts.slug')
    .action(async (name: string, _flags: unknown, command: Command) => {
      await (await import('./field.ts')).removeFieldCommand(storeOf(command), name);
    });
}

function addKeyCommands(key: Command): void {
  const file = () => optionOf(settingsTable.authKeys);
  const add = (name: string) => key.command(name).addOption(file().makeOptionMandatory());
  key
    .command('create')
    .description('create a key and print its token (shown only once)')
    .addOption(file())
    .option('--scopes <list>', 'scopes of the key, such as users:read,posts:write:own')
    .option('--name <text>', 'label for key list')
    .option('--subject <id>', 'id of the user that the key belongs to')
    .option('--expires <when>', 'when the key expires: 90d, 12h or 2027-01-01')
    .action(async (flags: NewKey, command: Command) => {
      // Commander would name only the first one.
      const missing = [
        flags.authKeys === undefined && "'--auth-keys <file>'",
        flags.scopes === undefined && "'--scopes <list>'",
      ];
      const names = missing.filter(Boolean).join(' and ');
      if (names !== '') command.error(`Required option ${names} not specified.`);
      (await import('./key.ts')).createKeyCommand(flags);
    });
  add('list')
    .description('list the keys, without their tokens')
    .action(async (flags: KeyFileOption) => (await import('./key.ts')).listKeysCommand(flags));
  add('revoke <id>')
    .description('revoke a key; a running server notices within a second')
    .action(async (id: string, flags: KeyFileOption) => {
      (await import('./key.ts')).revokeKeyCommand(id, flags);
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

/** How a setting was given: `PORT` if in the environment, otherwise `--port`. */
function givenName(command: Command, name: keyof Settings): string {
  const { flag, env } = settingsTable[name];
  const [long = flag] = flag.split(' ');
  return command.getOptionValueSource(name) === 'env' ? env : long;
}

const fieldChecks = { field: declaredFieldsOf, publicUserFields: checkPublicUserFields };

/** @throws Failure for invalid names of fields in --field or --public-user-fields */
function checkFields(command: Command): void {
  for (const name of ['field', 'publicUserFields'] as const) {
    const names: readonly string[] = command.getOptionValue(name) ?? [];
    try {
      fieldChecks[name](names);
    } catch (error) {
      const said = (error as Error).message;
      throw new Failure(`${givenName(command, name)} is "${names.join(',')}": ${said}`);
    }
  }
}

function storeOf(command: Command): StoreSetting {
  return { setting: givenName(command, 'store'), url: command.getOptionValue('store') };
}

/** Replaces passwords in what was typed or set. */
function redacted(message: string, args: readonly string[]): string {
  const typed = [...args, ...Object.values(settingsTable).map(({ env }) => process.env[env] ?? '')];
  return typed.reduce((text, part) => {
    const [, flag = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(part) ?? [];
    return text.replaceAll(part, () => flag + redactStoreUrl(value)); // A text would expand "$&".
  }, message);
}
