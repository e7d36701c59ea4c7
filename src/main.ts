#!/usr/bin/env node
import { commandHelp, commands } from './cli/commands.ts';
import { Failure } from './cli/failure.ts';
import { helpText } from './cli/help.ts';
import { SettingError } from './cli/setting-error.ts';
import { version } from './cli/version.ts';

const args = process.argv.slice(2);
const [first = ''] = args;
const command = Object.hasOwn(commands, first) ? commands[first] : undefined;

try {
  if (args.includes('--help')) {
    process.stdout.write(command ? commandHelp(first, command) : helpText());
  } else if (args.includes('--version')) {
    process.stdout.write(`${version()}\n`);
  } else if (command) {
    await (await command.load())(args.slice(1), process.env);
  } else if (first !== '' && !first.startsWith('-')) {
    throw new SettingError(`"${first}" is no command: rostrum --help lists what there is.`);
  } else {
    // Here and not above, so that --help needs nothing that the server needs.
    const { serveCommand } = await import('./cli/serve.ts');
    await serveCommand(args, process.env);
  }
} catch (error) {
  if (!(error instanceof SettingError || error instanceof Failure)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
