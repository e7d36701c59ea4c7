import { options } from './options.ts';
import type { Environment } from './read-options.ts';

/** The store that a command works on, named as the server's is: the flag wins. */
export function storeSetting(
  flag: string | undefined,
  env: Environment,
): { readonly setting: string; readonly url: string } {
  if (flag !== undefined) return { setting: `--${options.store.flag}`, url: flag };
  return { setting: options.store.env, url: env[options.store.env] || options.store.fallback };
}
