/** The program's wiring: the one place that knows both sides of every port. */
export type { Settings } from '../../settings/settings.ts';
export { closeContainer, createContainer, type Override, override } from './container.ts';
export { tokens } from './tokens.ts';
