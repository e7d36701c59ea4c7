/** The settings of the program, and the URLs of stores. */
export { defaultSettings, type LogLevel, logLevels, type Settings } from './settings.ts';
export { parseStoreUrl, redactStoreUrl, type StoreUrl, StoreUrlError } from './store-url.ts';
