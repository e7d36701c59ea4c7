import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { repository } from '../support/repository-copy.ts';

/** A fenced code block in a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line where the block begins. */
  readonly line: number;
}

/** A command in a page, and the output that the page shows. */
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

/** Splits a console session into commands, which follow `$ `, and their outputs. */
export function stepsOf({ text, line }: Block): Step[] {
  return [...text.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)].map((match) => ({
    command: match[1] ?? '',
    expected: match[2] ?? '',
    line: line + text.slice(0, match.index).split('\n').length,
  }));
}

/** Returns a pattern for output shown in a page: `…` matches anything, including nothing. */
export function shown(expected: string): RegExp {
  const escaped = expected.trimEnd().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[\\s\\S]*?')}\\s*$`);
}

/** Checks a part of docs/moving-in.md that a test generates. `UPDATE_DOCS=1` rewrites it. */
export function expectGenerated(part: string, test: string, text: string): void {
  const page = 'docs/moving-in.md';
  const old = new RegExp(`<!-- ${part}:[^>]* -->[^]*?<!-- end -->`);
  const made = `<!-- ${part}: ${test}, by UPDATE_DOCS=1 -->\n\n${text}\n\n<!-- end -->`;
  const updated = readPage(page).replace(old, () => made);
  if (process.env.UPDATE_DOCS) writeFileSync(join(repository, page), updated);
  expect(readPage(page)).to.equal(updated).and.to.contain(made);
}
