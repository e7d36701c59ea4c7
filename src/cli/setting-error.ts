import { redactStoreUrl } from '../settings/store-url.ts';

/** A setting that cannot be: one sentence that names it, what it was, and what to do. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** The sentence about a setting that names a store, without its password. */
export function storeRefused(setting: string, url: string, reason: string): SettingError {
  return new SettingError(`${setting} is "${redactStoreUrl(url)}": ${reason}`);
}
