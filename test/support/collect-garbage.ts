import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** So that what is measured then is what is held, and not what was. */
export const collectGarbage = runInNewContext('gc') as () => void;
