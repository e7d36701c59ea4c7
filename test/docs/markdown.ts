import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Where it begins, for whoever has to mend it. */
  readonly line: number;
}

export function readPage(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}

export function blocksOf(page: string): Block[] {
  const text = readPage(page);
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? '',
    text: match[2] ?? '',
    line: text.slice(0, match.index).split('\n').length,
  }));
}

/** A text as a page shows it: `…` stands for anything, also nothing. */
export function shown(expected: string): RegExp {
  const parts = expected.trimEnd().split('…');
  const escaped = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('[\\s\\S]*?')}\\s*$`);
}
