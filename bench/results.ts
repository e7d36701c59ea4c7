import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './rounds.ts';
import { cache, root } from './workspace.ts';

/** What a measurement found. */
export interface Report {
  readonly markdown: string;
  readonly data: Readonly<Record<string, readonly object[]>>;
}

/**
 * Writes data into docs/benchmarks and the text into docs/benchmarks.md, between the
 * comments that name the measurement. A quick run writes all of it into the cache instead.
 *
 * @returns the folder
 */
export function publish(name: string, report: Report, facts: readonly string[], isQuick: boolean) {
  const folder = isQuick ? join(cache, 'results') : join(root, 'docs', 'benchmarks');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), compact({ machine: facts, ...report.data }));
  const text = `${facts.map((fact) => `- ${fact}`).join('\n')}\n\n${report.markdown}`;
  const page = isQuick ? join(folder, `${name}.md`) : join(root, 'docs', 'benchmarks.md');
  const [begin, end] = [`<!-- written by the run: ${name} -->`, '<!-- end of the run -->'];
  const before = isQuick ? `${begin}${end}\n` : readFileSync(page, 'utf8');
  const from = before.indexOf(begin);
  if (from < 0) throw new Error(`${page} has no comment ${begin}.`);
  const rest = before.slice(before.indexOf(end, from));
  writeFileSync(page, `${before.slice(0, from)}${begin}\n\n${text}\n\n${rest}`);
  return folder;
}

/** JSON with a line for each item; of the rounds it has `[median, least, most]`. */
function compact(lists: Readonly<Record<string, readonly unknown[]>>): string {
  const isSeries = (value: unknown) =>
    Array.isArray(value) && value.every((item) => typeof item === 'number');
  const shorter = (_: string, value: unknown) => {
    if (!isSeries(value)) return value;
    const three = [median(value as number[]), Math.min(...value), Math.max(...value)];
    return three.map((number) => Number(number.toPrecision(4)));
  };
  const lines = Object.entries(lists).map(([name, items]) => {
    return `"${name}": [\n${items.map((item) => JSON.stringify(item, shorter)).join(',\n')}\n]`;
  });
  return `{\n${lines.join(',\n')}\n}\n`;
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
