import { stat } from 'node:fs/promises';
import { emailKey } from '../../domain/email.ts';
import { compareText } from '../../domain/text.ts';
import { Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { type Content, readLine } from './lines.ts';
import { type Line, readLines } from './read-lines.ts';
import { type RecordKind, Summarizer, type Summary, sameSummary, summaryText } from './summary.ts';

/** A file that was read to its end, and is right. */
export interface CheckedFile {
  readonly path: string;
  readonly summary: Summary;
  /** The byte that the posts begin at. */
  readonly postsAt: number;
}

/**
 * Reads an export from its first line to its last.
 *
 * @throws Failure with the number of the first line in which something is wrong
 */
export async function checkFile(path: string, { progress, signal }: LongRun): Promise<CheckedFile> {
  const check = new Check();
  let unreported = 0;
  const found = await stat(path);
  if (!found.isFile())
    throw new Failure(`${path} is not a file: name one that rostrum export wrote.`);
  progress.begin('checking file (bytes)', found.size);
  for await (const line of readLines(path)) {
    try {
      check.next(line);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (line.number === 1 && !line.text?.includes('"kind"')) throw notAnExport(path);
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
  if (check.summary === undefined) {
    throw new Failure(
      `${path} has no last line with its counts and checksum: it was cut off; take a complete one.`,
    );
  }
  return { path, summary: check.summary, postsAt: check.postsAt };
}

function notAnExport(path: string): Failure {
  return new Failure(
    `${path} is not an export of Rostrum: to add the records of another file, use rostrum import.`,
  );
}

/** Checks what has to hold between the lines of a file. */
class Check {
  postsAt = 0;
  /** Known after the last line. */
  summary: Summary | undefined;
  readonly #summarizer = new Summarizer();
  readonly #users = new Set<string>();
  readonly #addresses = new Set<string>();
  #kind: RecordKind = 'user';
  #last: string | undefined;

  /** @throws Failure with what is wrong, to follow the number of the line */
  next({ text, bytes, isWhole }: Line): void {
    if (!isWhole) throw new Failure('is cut off: it does not end in a line feed');
    if (text === undefined) throw new Failure('is not UTF-8');
    if (this.summary !== undefined) throw new Failure('comes after the last one');
    const content = readLine(text);
    if (content.kind === 'end') {
      this.#end(content.summary);
      return;
    }
    this.#order(content);
    if (content.kind === 'user') {
      this.#user(content.stored.record);
      this.postsAt += bytes;
    } else {
      const { authorId } = content.stored.record;
      if (authorId !== null && !this.#users.has(authorId)) {
        throw new Failure('names an author who is not in the file');
      }
    }
    this.#summarizer.add(content.kind, content.stored);
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

  #end(stated: Summary): void {
    const found = this.#summarizer.end();
    if (!sameSummary(found, stated)) {
      throw new Failure(
        `states ${summaryText(stated)}, and there are ${summaryText(found)}: the file was changed`,
      );
    }
    this.summary = found;
  }
}
