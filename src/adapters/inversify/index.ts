/** The program's wiring: the one place that knows both sides of every port. */
export type { Settings } from '../../settings/settings.ts';
export { closeContainer, createContainer, decorate, type Override, override } from './container.ts';
export { openStore } from './open-store.ts';
export { rostrumToken, tokens } from './tokens.ts';
