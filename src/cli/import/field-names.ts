import type { Issues } from '../../domain/issues.ts';
import { setMember } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { Failure } from '../failure.ts';

/** What an option says of a field. */
export interface FieldOption<T> {
  readonly to: T;
  /** The option, as it was given: `--map "userId=authorId"`. */
  readonly text: string;
  /** Whether a record has such a field. */
  isUsed: boolean;
}

/** What an option that may be given again says of the fields of a list, by their names. */
export type FieldOptions<T> = ReadonlyMap<string, FieldOption<T>>;

/** What fields are called in a file, and what they become; `''` leaves a field out. */
export type Names = FieldOptions<string>;

type ByList<T> = Readonly<Record<Collection, FieldOptions<T>>>;

/**
 * Reads `FROM=TO` for the fields of both lists, and `users.FROM=TO` or `posts.FROM=TO` for those of
 * one. Nothing behind `=` leaves the field out.
 *
 * @throws Failure
 */
export function readNames(given: readonly string[]): ByList<string> {
  const like = 'is not like userId=authorId or users.mail=email.';
  return readFieldOptions('--map', given, like, (to) => to);
}

/**
 * Reads `FIELD=TO` for both lists, and `users.FIELD=TO` or `posts.FIELD=TO` for one.
 *
 * @param like the end of the sentence about another form
 * @param read undefined for what may not stand behind `=`
 * @throws Failure
 */
export function readFieldOptions<T>(
  flag: string,
  given: readonly string[],
  like: string,
  read: (to: string) => T | undefined,
): ByList<T> {
  const options = {
    users: new Map<string, FieldOption<T>>(),
    posts: new Map<string, FieldOption<T>>(),
  };
  for (const text of given) {
    const [, list, from, behind] = /^(?:(users|posts)\.)?([^=]+)=(.*)$/s.exec(text) ?? [];
    const to = behind === undefined ? undefined : read(behind);
    if (from === undefined || to === undefined) throw new Failure(`${flag} "${text}" ${like}`);
    const option = { to, text: `${flag} "${text}"`, isUsed: false };
    for (const one of ['users', 'posts'] as const) {
      if (list === undefined || list === one) options[one].set(from, option);
    }
  }
  return options;
}

/**
 * Once all records are checked: a name that neither they nor the columns have is misspelt.
 *
 * @param columns of CSV, where a cell without a text is no field
 * @throws Failure
 */
export function checkUsed(
  columns: readonly string[],
  names: ByList<string>,
  types: ByList<unknown>,
): void {
  const become = columns.flatMap((column) => [
    names.users.get(column)?.to,
    names.posts.get(column)?.to,
  ]);
  const there = new Set([...columns, ...become]);
  const options = [names, types].flatMap(({ users, posts }) => [...users, ...posts]);
  const unused = options.find(([name, { isUsed }]) => !isUsed && !there.has(name))?.[1];
  if (unused === undefined) return;
  throw new Failure(
    `Nothing is added, because no record has the field of ${unused.text}: ` +
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
