import type { FieldIssue } from '../../domain/issues.ts';
import { counted, grouped } from '../count.ts';
import type { Refusal } from './list-import.ts';

/** How many lines of refusals a terminal is shown. */
const mostLines = 20;

/** How many reasons of a record are on its line. */
const mostOnLine = 3;

/** The longest line: a pointer may have some thousand characters. */
const longestLine = 400;

/** A record that is refused, and how many posts are only because they name it or the same author. */
interface Group {
  readonly line: string;
  posts: number;
}

/** Gathers what is refused, for a person to read: a line a record, and one for a chain of them. */
export class Refusals {
  /** By the author whom the posts of a chain name, or by the place. */
  readonly #groups = new Map<string, Group>();
  #linesLeft = mostLines;
  #more = 0;

  add(refusal: Refusal): void {
    const author = authorOf(refusal);
    const known = author !== undefined && this.#groups.get(`author ${author}`);
    if (known) known.posts += 1;
    else if (this.#linesLeft === 0) this.#more += 1;
    else {
      this.#linesLeft -= 1;
      const { list, given, place } = refusal;
      const named = list === 'users' ? given : author;
      const chain = `author ${named}`;
      const isFirst = named !== undefined && !this.#groups.has(chain);
      this.#groups.set(isFirst ? chain : place, { line: lineOf(refusal), posts: 0 });
    }
  }

  /** The lines of what was gathered. @param report the file that has all of it, if there is one */
  take(report: string | undefined): string {
    const lines = Array.from(this.#groups.values(), ({ line, posts }) => {
      return posts === 0 ? line : `${line} (and ${counted(posts, 'post')} of this author)`;
    });
    if (this.#more > 0) {
      lines.push(`… and ${grouped(this.#more)} more; ${report ?? '--report FILE'} has all`);
    }
    this.#groups.clear();
    this.#more = 0;
    return lines.map((line) => `${line}\n`).join('');
  }
}

/** `/email invalid`; the code alone of what is about the whole record. */
export function reasonOf({ pointer, code }: FieldIssue): string {
  return `${pointer} ${code}`.trimStart();
}

/** The author of a post with which all else is right. */
function authorOf({ list, author, issues: [issue, ...others] }: Refusal): string | undefined {
  const isAll = others.length === 0 && issue?.pointer === '/authorId' && issue.code === 'unknown';
  return list === 'posts' && isAll ? author : undefined;
}

function lineOf({ place, issues }: Refusal): string {
  const reasons = issues.slice(0, mostOnLine).map((issue) => {
    return `${reasonOf(issue)}: ${issue.message}`;
  });
  const more = issues.length - reasons.length;
  const line = `${place} ${reasons.join(' ')}${more === 0 ? '' : ` (and ${more} more reasons)`}`;
  const shown = line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
  // What a file has may not move the cursor, nor begin a line.
  return shown.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}
