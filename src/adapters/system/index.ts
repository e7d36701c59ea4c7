/** The system clock and id generators. The log is loaded when it is created. */
export { systemClock } from './clock.ts';
export { uuidV7 } from './uuid-v7.ts';
