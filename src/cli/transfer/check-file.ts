import { stat } from 'node:fs/promises';
import { emailKey } from '../../domain/email.ts';
import { compareText } from '../../domain/text.ts';
import { Failure } from '../failure.ts';
import { type Content, readLine } from './export-lines.ts';
import type { Progress } from './progress.ts';
import { type Line, readLines } from './read-lines.ts';
import { sameTally, type Tally, Tallying, tallyText } from './tally.ts';

/** A file that was read to its end, and in which nothing is wrong. */
export interface CheckedFile {
  readonly path: string;
  readonly tally: Tally;
  /** The byte that the posts begin at. */
  readonly postsAt: number;
}

/**
 * Reads an export from its first line to its last.
 *
 * @throws Failure with the number of the first line in which something is wrong
 */
export async function checkFile(
  path: string,
  { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
): Promise<CheckedFile> {
  const check = new Check();
  let unreported = 0;
  const found = await stat(path);
  if (!found.isFile()) throw new Failure(`${path} is no file: name one that rostrum export wrote.`);
  progress.begin('checking file', found.size);
  for await (const line of readLines(path)) {
    try {
      check.next(line);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(`${path}, line ${line.number} ${error.message}.`);
    }
    unreported += line.bytes;
    if (line.number % 256 !== 0) continue;
    signal.throwIfAborted();
    progress.advance(unreported);
    unreported = 0;
  }
  progress.advance(unreported);
  progress.end();
  if (check.tally === undefined) {
    throw new Failure(
      `${path} has no last line with its counts and checksum: it was cut off; take a whole one.`,
    );
  }
  return { path, tally: check.tally, postsAt: check.postsAt };
}

/** What has to hold between the lines of a file. */
class Check {
  postsAt = 0;
  /** Known after the last line. */
  tally: Tally | undefined;
  readonly #tallying = new Tallying();
  readonly #users = new Set<string>();
  readonly #addresses = new Set<string>();
  #kind: 'user' | 'post' = 'user';
  #last: string | undefined;

  /** @throws Failure with what is wrong, to follow the name of the line */
  next({ text, bytes, isWhole }: Line): void {
    if (!isWhole) throw new Failure('is cut off: it does not end in a line feed');
    if (text === undefined) throw new Failure('is not UTF-8');
    if (this.tally !== undefined) throw new Failure('comes after the last one');
    const content = readLine(text);
    if (content.kind === 'end') {
      this.#end(content.tally);
      return;
    }
    this.#order(content);
    if (content.kind === 'user') {
      this.#user(content.stored.record);
      this.postsAt += bytes;
      this.#tallying.add('users', [content.stored]);
    } else {
      const { authorId } = content.stored.record;
      if (authorId !== null && !this.#users.has(authorId)) {
        throw new Failure('names an author who is not in the file');
      }
      this.#tallying.add('posts', [content.stored]);
    }
  }

  #order({ kind, stored }: Exclude<Content, { kind: 'end' }>): void {
    const { id } = stored.record;
    if (kind !== this.#kind) {
      if (kind === 'user') throw new Failure('has a user, and posts came before it');
      this.#kind = kind;
    } else if (this.#last !== undefined && compareText(this.#last, id) >= 0) {
      throw new Failure('has an id that does not come after the one before it');
    }
    this.#last = id;
  }

  #user({ id, email }: { readonly id: string; readonly email: string | null }): void {
    this.#users.add(id);
    if (email === null) return;
    const key = emailKey(email);
    if (this.#addresses.has(key)) throw new Failure('has the email address of another user');
    this.#addresses.add(key);
  }

  #end(told: Tally): void {
    const found = this.#tallying.end();
    if (!sameTally(found, told)) {
      throw new Failure(
        `says that there are ${tallyText(told)}, and there are ${tallyText(found)}: the file was changed`,
      );
    }
    this.tally = found;
  }
}
