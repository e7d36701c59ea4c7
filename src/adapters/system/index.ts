/** Time and ids as the machine has them. The log is loaded when one is made. */
export { systemClock } from './clock.ts';
export { uuidV7 } from './uuid-v7.ts';
