import { integer, type Rules, text } from './rules.ts';
import type { Versioned } from './version.ts';

export interface Owner extends Versioned {
  readonly name: string;
  /** The maximum number of notes. */
  readonly quota: number;
  readonly noteCount: number;
}

export type OwnerInput = Pick<Owner, 'name' | 'quota'>;

export const ownerRules: Rules<OwnerInput> = { name: text(1, 100), quota: integer(0, 1e6) };
export const ownerDefaults = { quota: 100 } satisfies Partial<OwnerInput>;
