import { DomainError } from './errors.ts';
import type { Owner } from './owner.ts';
import { anyId, flag, type Rules, text } from './rules.ts';
import { change, type Versioned } from './version.ts';

export interface Note extends Versioned {
  readonly ownerId: string;
  readonly title: string;
  readonly text: string;
  readonly pinned: boolean;
}

/** What a caller can set and change. */
export type NoteInput = Omit<Note, keyof Versioned>;

export const noteRules: Rules<NoteInput> = {
  ownerId: anyId,
  title: text(1, 200),
  text: text(0, 10_000),
  pinned: flag,
};
export const noteDefaults = { text: '', pinned: false } satisfies Partial<NoteInput>;

/** Returns an owner with one more note. Throws `quota-exceeded` if the owner cannot have more. */
export function addNote(owner: Owner): Owner {
  if (owner.noteCount >= owner.quota) throw new DomainError('quota-exceeded');
  return change(owner, { noteCount: owner.noteCount + 1 });
}

export function subtractNote(owner: Owner): Owner {
  return change(owner, { noteCount: owner.noteCount - 1 });
}
