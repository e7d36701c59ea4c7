import { redactStoreUrl } from '../adapters/inversify/store-url.ts';
import type { Option } from './options.ts';
import { parseFlags } from './parse-flags.ts';
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
  const help = 'rostrum --help lists what there is.';
  const all = Object.values(options);
  const known = {
    values: all.filter(({ value }) => value !== undefined).map(({ flag }) => flag),
    switches: all.filter(({ value }) => value === undefined).map(({ flag }) => flag),
  };
  const { flags, rest } = parseFlags(args, known, help);
  if (rest[0] !== undefined) {
    throw new SettingError(`"${redactStoreUrl(rest[0])}" is one argument too many: ${help}`);
  }
  const values = Object.entries(options).map(([name, option]) => {
    const flag = flags.get(option.flag);
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
