/** The program's wiring: the one place that knows both sides of every port. */

export { openStore } from '../../settings/open-store.ts';
export {
  defaultSettings,
  type LogLevel,
  logLevels,
  type Settings,
} from '../../settings/settings.ts';
export {
  parseStoreUrl,
  redactStoreUrl,
  type StoreUrl,
  StoreUrlError,
} from '../../settings/store-url.ts';
export { closeContainer, createContainer, type Override, override } from './container.ts';
export { tokens } from './tokens.ts';
