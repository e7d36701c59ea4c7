#!/usr/bin/env node
import { helpText } from './cli/help.ts';
import { SettingError } from './cli/setting-error.ts';
import { version } from './cli/version.ts';

const args = process.argv.slice(2);

try {
  if (args.includes('--help')) process.stdout.write(helpText());
  else if (args.includes('--version')) process.stdout.write(`${version()}\n`);
  else {
    // Here and not above, so that --help needs nothing that the server needs.
    const { serveCommand } = await import('./cli/serve.ts');
    await serveCommand(args, process.env);
  }
} catch (error) {
  if (!(error instanceof SettingError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
