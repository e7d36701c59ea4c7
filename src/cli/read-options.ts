import { parseArgs } from 'node:util';
import { redactStoreUrl } from '../adapters/inversify/index.ts';
import type { Option } from './options.ts';
import { SettingError } from './setting-error.ts';

type Options = Readonly<Record<string, Option<unknown>>>;
type Values<O extends Options> = { readonly [K in keyof O]: O[K]['fallback'] };
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads options from flags and the environment; a flag wins, an empty variable is none.
 *
 * @throws SettingError
 */
export function readOptions<O extends Options>(
  options: O,
  args: readonly string[],
  env: Environment,
): Values<O> {
  const flags = readFlags(options, args);
  const values = Object.entries(options).map(([name, option]) => {
    const flag = flags[option.flag];
    const text = flag ?? (env[option.env] || undefined);
    const said = flag === undefined ? option.env : `--${option.flag}`;
    return [name, text === undefined ? option.fallback : readValue(option, said, text)];
  });
  return Object.fromEntries(values) as Values<O>;
}

function readValue(option: Option<unknown>, said: string, text: string): unknown {
  const value = option.read(text);
  if (value !== undefined) return value;
  throw new SettingError(
    `${said} is "${redactStoreUrl(text)}", and it has to be ${option.wanted}: ` +
      `set --${option.flag} or ${option.env}, or leave both out for ${String(option.fallback)}.`,
  );
}

function readFlags(options: Options, args: readonly string[]): Record<string, string> {
  const known = Object.values(options).map(({ flag, value }) => {
    return [flag, { type: value === undefined ? ('boolean' as const) : ('string' as const) }];
  });
  try {
    const { values } = parseArgs({ args: [...args], options: Object.fromEntries(known) });
    return Object.fromEntries(Object.entries(values).map(([flag, value]) => [flag, String(value)]));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new SettingError(`${reason}: rostrum --help lists what there is.`);
  }
}
