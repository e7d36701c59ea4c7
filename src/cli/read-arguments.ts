import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { SettingError } from './setting-error.ts';

/** What a command takes after its name. */
interface Wanted {
  /** What it is called, for messages. */
  readonly command: string;
  /** Flags with a value, and those without. */
  readonly values?: readonly string[];
  readonly switches?: readonly string[];
  /** Whether it takes a file. */
  readonly file?: boolean;
}

export interface Arguments {
  /** Empty for a command that takes none. */
  readonly file: string;
  value(flag: string): string | undefined;
  isOn(flag: string): boolean;
}

/** @throws SettingError */
export function readArguments(
  { command, values = [], switches = [], file = false }: Wanted,
  args: readonly string[],
): Arguments {
  const help = `rostrum ${command} --help tells more.`;
  const options: ParseArgsOptionsConfig = {};
  for (const flag of values) options[flag] = { type: 'string' };
  for (const flag of switches) options[flag] = { type: 'boolean' };
  const { flags, files } = parse(args, options, help);
  const [first = ''] = files;
  if (files.length > 1 || (files.length === 1 && !file)) {
    throw new SettingError(`"${files[file ? 1 : 0]}" is one argument too many: ${help}`);
  }
  if (file && first === '') throw new SettingError(`The name of a file is missing: ${help}`);
  return {
    file: first,
    value: (flag) => (typeof flags[flag] === 'string' ? flags[flag] : undefined),
    isOn: (flag) => flags[flag] === true,
  };
}

function parse(args: readonly string[], options: ParseArgsOptionsConfig, help: string) {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { flags: values as Readonly<Record<string, unknown>>, files: positionals };
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new SettingError(`${reason}: ${help}`);
  }
}
