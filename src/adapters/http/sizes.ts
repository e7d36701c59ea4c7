import { recordLimits } from '../../domain/fields/rules.ts';

/** The maximum length of a target, in characters: enough for a list filtered by 100 ids. */
export const maxTargetLength = 12 * 1024;

/** The maximum size of a body, in bytes: the largest record as GET returns it, so that it can be PUT back. */
export const maxBodyBytes = recordLimits.bytes + recordLimits.addedBytes;
