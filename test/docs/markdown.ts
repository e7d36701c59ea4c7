import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../support/repository-copy.ts';

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line of the page on which it begins. */
  readonly line: number;
}

/** A command of a page, and what the page says that it prints. */
export interface Step {
  readonly command: string;
  readonly expected: string;
  readonly line: number;
}

export function readPage(page: string): string {
  return readFileSync(join(repository, page), 'utf8');
}

export function blocksOf(page: string, language?: string): Block[] {
  const text = readPage(page);
  const blocks = [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
  return blocks.filter((block) => language === undefined || block.language === language);
}

/** The steps of a console session: `$ ` before a command, its output below it. */
export function stepsOf({ text, line }: Block): Step[] {
  return [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map((match) => ({
    command: match[1] ?? '',
    expected: match[2] ?? '',
    line: line + text.slice(0, match.index).split('\n').length,
  }));
}

/** A text as a page shows it: `…` stands for anything, also nothing. */
export function shown(expected: string): RegExp {
  const escaped = expected.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[\\s\\S]*?')}\\s*$`);
}
