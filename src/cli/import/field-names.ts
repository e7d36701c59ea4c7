import type { Issues } from '../../domain/issues.ts';
import { setMember } from '../../domain/json.ts';
import { Failure } from '../failure.ts';
import type { List } from './data-file.ts';

/** What fields are called in a file, and what they become; `''` leaves one out. */
export type Names = ReadonlyMap<string, string>;

/**
 * Reads `FROM=TO` for the fields of both lists, and `users.FROM=TO` or `posts.FROM=TO` for those of
 * one. Nothing behind `=` leaves the field out.
 *
 * @throws Failure
 */
export function readNames(given: readonly string[]): Readonly<Record<List, Names>> {
  const names = { users: new Map<string, string>(), posts: new Map<string, string>() };
  for (const text of given) {
    const [, list, from, to] = /^(?:(users|posts)\.)?([^=]+)=(.*)$/s.exec(text) ?? [];
    if (from === undefined || to === undefined) {
      throw new Failure(`--map "${text}" is not like userId=authorId or users.mail=email.`);
    }
    for (const one of ['users', 'posts'] as const) {
      if (list === undefined || list === one) names[one].set(from, to);
    }
  }
  return names;
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
    const to = names.get(from) ?? from;
    if (to === '') continue;
    if (Object.hasOwn(made, to)) issues.add([to], 'key', `Two fields become "${to}".`);
    setMember(made, to, member);
  }
  return made;
}
