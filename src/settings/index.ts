/** What the program may be told, and the store that a URL names. */
export { openStore } from '../adapters/open-store.ts';
export { defaultSettings, type LogLevel, logLevels, type Settings } from './settings.ts';
export { parseStoreUrl, redactStoreUrl, type StoreUrl, StoreUrlError } from './store-url.ts';
