import { redactStoreUrl } from '../settings/store-url.ts';
import type { Option } from './options.ts';
import { parseFlags } from './parse-flags.ts';
import { SettingError } from './setting-error.ts';

type Options = Readonly<Record<string, Option<unknown>>>;
type Values<O extends Options> = { readonly [K in keyof O]: O[K]['fallback'] };

/** What was read, and the name of each setting: `--port`, or `PORT` when the environment said it. */
export interface Given<O extends Options> {
  readonly values: Values<O>;
  readonly said: { readonly [K in keyof O]: string };
}

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
): Given<O> {
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
  const given = Object.entries(options).map(([name, option]) => {
    const flag = flags.get(option.flag);
    const text = flag ?? (env[option.env] || undefined);
    const said = flag === undefined && text !== undefined ? option.env : `--${option.flag}`;
    const value = text === undefined ? option.fallback : readValue(option, said, text);
    return { name, said, value };
  });
  return {
    values: Object.fromEntries(given.map(({ name, value }) => [name, value])) as Values<O>,
    said: Object.fromEntries(given.map(({ name, said }) => [name, said])) as Given<O>['said'],
  };
}

function readValue(option: Option<unknown>, said: string, text: string): unknown {
  const value = option.read(text);
  if (value !== undefined) return value;
  throw new SettingError(
    `${said} is "${redactStoreUrl(text)}", and it has to be ${option.wanted}: ` +
      `set --${option.flag} or ${option.env}, or leave both out for ${String(option.fallback)}.`,
  );
}
