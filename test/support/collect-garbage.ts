import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage, so that a following measurement only counts memory in use. */
export const collectGarbage = runInNewContext('gc') as () => void;
