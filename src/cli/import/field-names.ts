import type { Issues } from '../../domain/issues.ts';
import { setMember } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { Failure } from '../failure.ts';

interface Name {
  /** `''` leaves the field out. */
  readonly to: string;
  /** The option, as it was given. */
  readonly text: string;
  /** Whether a record has such a field. */
  isUsed: boolean;
}

/** What fields are called in a file, and what they become. */
export type Names = ReadonlyMap<string, Name>;

/**
 * Reads `FROM=TO` for the fields of both lists, and `users.FROM=TO` or `posts.FROM=TO` for those of
 * one. Nothing behind `=` leaves the field out.
 *
 * @throws Failure
 */
export function readNames(given: readonly string[]): Readonly<Record<Collection, Names>> {
  const names = { users: new Map<string, Name>(), posts: new Map<string, Name>() };
  for (const text of given) {
    const [, list, from, to] = /^(?:(users|posts)\.)?([^=]+)=(.*)$/s.exec(text) ?? [];
    if (from === undefined || to === undefined) {
      throw new Failure(`--map "${text}" is not like userId=authorId or users.mail=email.`);
    }
    const name = { to, text, isUsed: false };
    for (const one of ['users', 'posts'] as const) {
      if (list === undefined || list === one) names[one].set(from, name);
    }
  }
  return names;
}

/**
 * Once all records are checked: a name that none of them has is misspelt.
 *
 * @throws Failure
 */
export function checkUsed({ users, posts }: Readonly<Record<Collection, Names>>): void {
  const unused = [...users.values(), ...posts.values()].find(({ isUsed }) => !isUsed);
  if (unused === undefined) return;
  throw new Failure(
    `Nothing is added, because no record has the field of --map "${unused.text}": ` +
      'correct its name, or leave the option out.',
  );
}

/** An object with other names for its fields. */
export function renamed(
  value: Readonly<Record<string, unknown>>,
  names: Names,
  issues: Issues,
): Record<string, unknown> {
  if (names.size === 0) return { ...value };
  const made: Record<string, unknown> = {};
  for (const [from, member] of Object.entries(value)) {
    const name = names.get(from);
    if (name !== undefined) name.isUsed = true;
    const to = name?.to ?? from;
    if (to === '') continue;
    if (Object.hasOwn(made, to)) issues.add([to], 'key', `Two fields become "${to}".`);
    setMember(made, to, member);
  }
  return made;
}
