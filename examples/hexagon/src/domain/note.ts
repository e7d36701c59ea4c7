import { DomainError } from './errors.ts';
import { checkQuota, type Owner } from './owner.ts';
import { anyId, flag, type Rules, text } from './rules.ts';

export interface Note {
  /** ASCII. Begins with the time; ids of one millisecond have no order. */
  readonly id: string;
  /** Starts at 1 and increases with every change. */
  readonly version: number;
  readonly ownerId: string;
  readonly title: string;
  readonly text: string;
  readonly pinned: boolean;
}

/** What a caller can set when it creates a note. */
export type NoteInput = Omit<Note, 'id' | 'version'>;
/** What a caller can change. Only `moveNote` changes the owner, because it checks the quota. */
export type NoteContent = Omit<NoteInput, 'ownerId'>;

export const contentRules: Rules<NoteContent> = {
  title: text(1, 200),
  text: text(0, 10_000),
  pinned: flag,
};
export const noteRules: Rules<NoteInput> = { ownerId: anyId, ...contentRules };
export const noteDefaults = { text: '', pinned: false };

export function newNote(id: string, input: NoteInput, owner: Owner): Note {
  checkQuota(owner);
  return { id, version: 1, ...input };
}

/** The versions of a note that the caller accepts. Undefined accepts every version. */
export type Versions = readonly number[] | undefined;

export function changeNote(note: Note, content: Partial<NoteContent>, versions?: Versions): Note {
  checkVersion(note, versions);
  return { ...note, ...content, version: note.version + 1 };
}

/** A rule over two records. Moving a note to its own owner is allowed, so clients can retry. */
export function moveNote(note: Note, owner: Owner, versions?: Versions): Note {
  checkVersion(note, versions);
  if (note.ownerId === owner.id) return note;
  checkQuota(owner);
  return { ...note, ownerId: owner.id, version: note.version + 1 };
}

export function checkVersion(note: Note, versions: Versions): void {
  if (versions?.includes(note.version) === false) throw new DomainError('version-mismatch');
}
