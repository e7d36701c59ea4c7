/** The program's wiring: the one place that knows both sides of every port. */
export { closeContainer, createContainer, type Override, override } from './container.ts';
export { openStore } from './open-store.ts';
export { defaultSettings, type LogLevel, logLevels, type Settings } from './settings.ts';
export { parseStoreUrl, redactStoreUrl, type StoreUrl, StoreUrlError } from './store-url.ts';
export { tokens } from './tokens.ts';
