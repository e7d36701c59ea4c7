import { DomainError } from './errors.ts';
import { integer, type Rules, readFields, text } from './rules.ts';

export interface Owner {
  readonly id: string;
  readonly name: string;
  /** The maximum number of notes. */
  readonly quota: number;
  /** The current number of notes, counted by the store. */
  readonly noteCount: number;
}

const rules: Rules<Pick<Owner, 'name' | 'quota'>> = { name: text(1, 100), quota: integer(0, 1e6) };

export function newOwner(id: string, input: unknown): Owner {
  return { id, ...readFields(input, rules), noteCount: 0 };
}

/** Throws `quota-exceeded` if there is no room for another note. */
export function checkQuota(owner: Owner): void {
  if (owner.noteCount >= owner.quota) throw new DomainError('quota-exceeded');
}
