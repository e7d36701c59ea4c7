#!/usr/bin/env node
import { MissingPeerError } from './adapters/peer.ts';
import { commandHelp, commands } from './cli/commands.ts';
import { Failure } from './cli/failure.ts';
import { helpText } from './cli/help.ts';
import { checkNode } from './cli/node-version.ts';
import { SettingError } from './cli/setting-error.ts';
import { version } from './cli/version.ts';
import { redactStoreUrl } from './settings/store-url.ts';

/** A library installs alone; the program takes these besides, and a driver for MongoDB. */
const allPeers = '`npm i koa @koa/router koa-bodyparser inversify reflect-metadata pino`';

const args = process.argv.slice(2);
const [first = ''] = args;
const command = Object.hasOwn(commands, first) ? commands[first] : undefined;

try {
  checkNode();
  if (args.includes('--help')) {
    process.stdout.write(command ? commandHelp(first, command) : helpText());
  } else if (args.includes('--version')) {
    process.stdout.write(`${version()}\n`);
  } else if (command) {
    await (await command.load())(args.slice(1), process.env);
  } else if (first !== '' && !first.startsWith('-')) {
    const shown = redactStoreUrl(first);
    throw new SettingError(`"${shown}" is no command: rostrum --help lists what there is.`);
  } else {
    // Here and not above, so that --help needs nothing that the server needs.
    const { serveCommand } = await import('./cli/serve.ts');
    await serveCommand(args, process.env);
  }
} catch (error) {
  const isKnown = [SettingError, Failure, MissingPeerError].some((kind) => error instanceof kind);
  if (!(error instanceof Error && isKnown)) throw error;
  const hint = error instanceof MissingPeerError ? ` All of the program: ${allPeers}.` : '';
  process.stderr.write(`${error.message}${hint}\n`);
  process.exitCode = 1;
}
