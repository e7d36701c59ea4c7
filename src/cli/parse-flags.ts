import { parseArgs } from 'node:util';
import { redactStoreUrl } from '../settings/store-url.ts';
import { SettingError } from './setting-error.ts';

/** The flags that there are: with a value, or without one. */
export interface KnownFlags {
  readonly values: readonly string[];
  readonly switches: readonly string[];
}

export interface ParsedFlags {
  /** What was said; "true" for a flag without a value. The last one wins. */
  readonly flags: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/**
 * Takes a command line apart.
 *
 * @param help the sentence that says where to read more
 * @throws SettingError for a flag that there is not, a value that is missing or one too many
 */
export function parseFlags(
  args: readonly string[],
  { values, switches }: KnownFlags,
  help: string,
): ParsedFlags {
  const type = (flag: string) => (values.includes(flag) ? 'string' : 'boolean');
  const options = Object.fromEntries(
    [...values, ...switches].map((flag) => [flag, { type: type(flag) } as const]),
  );
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const flags = new Map<string, string>();
  const rest: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') rest.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const refuse = (what: string) =>
      new SettingError(`${redactStoreUrl(rawName)} ${what}: ${help}`);
    if (!Object.hasOwn(options, name)) throw refuse('is no flag');
    if (type(name) === 'boolean' && value !== undefined) throw refuse('takes no value');
    // A value that looks like a flag is one that was forgotten.
    const isMissing = value === undefined || (!token.inlineValue && value.startsWith('--'));
    if (type(name) === 'string' && isMissing) throw refuse('needs a value');
    flags.set(name, value ?? 'true');
  }
  return { flags, rest };
}
