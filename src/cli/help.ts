import { commands } from './commands.ts';
import { options } from './options.ts';

/** What `rostrum --help` prints. */
export function helpText(): string {
  const rows = Object.values(options).map(({ flag, env, value, fallback, help }) => {
    const left = value === undefined ? `--${flag}` : `--${flag} ${value}`;
    return `  ${left.padEnd(20)} ${env.padEnd(17)} ${help} (default: ${String(fallback)})`;
  });
  const others = Object.entries(commands).map(
    ([name, { usage, summary }]) => `  ${`${name} ${usage}`.padEnd(40)} ${summary}`,
  );
  return [
    'Usage: rostrum [options]',
    '       rostrum COMMAND …',
    '',
    'Serves users and posts over HTTP, under /api/v1.',
    '',
    `  ${'Flag'.padEnd(20)} ${'Environment'.padEnd(17)} Meaning; the flag wins`,
    ...rows,
    '  --help               print this',
    '  --version            print the version',
    '',
    '  Command; rostrum COMMAND --help tells more',
    ...others,
    '',
  ].join('\n');
}
