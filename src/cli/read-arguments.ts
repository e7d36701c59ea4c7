import { redactStoreUrl } from '../settings/store-url.ts';
import { parseFlags } from './parse-flags.ts';
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
  const { flags, rest } = parseFlags(args, { values, switches }, help);
  const [first = '', second] = rest;
  const extra = file ? second : rest[0];
  if (extra !== undefined) {
    throw new SettingError(`"${redactStoreUrl(extra)}" is one argument too many: ${help}`);
  }
  if (file && first === '') throw new SettingError(`The name of a file is missing: ${help}`);
  return { file: first, value: (flag) => flags.get(flag), isOn: (flag) => flags.has(flag) };
}
