import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { median } from './rounds.ts';
import { cache, root } from './workspace.ts';

/** The results of a measurement. */
export interface Report {
  readonly markdown: string;
  readonly data: Readonly<Record<string, readonly object[]>>;
}

/** Prints progress to standard error. Only results go to standard output. */
export function say(line: string): void {
  const seconds = Math.round(performance.now() / 1000);
  console.error(`[${String(seconds).padStart(4)} s] ${line}`);
}

/**
 * Writes the data to docs/benchmarks, and the text to docs/benchmarks.md between the two comments there.
 * Results of a partial run go to the cache instead. Returns the folder.
 */
export function publish(report: Report, facts: readonly string[], isFull: boolean): string {
  const folder = isFull ? join(root, 'docs', 'benchmarks') : join(cache, 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'http.json'), compact({ machine: facts, ...report.data }));
  const text = `${facts.map((fact) => `- ${fact}`).join('\n')}\n\n${report.markdown}`;
  const page = isFull ? join(root, 'docs', 'benchmarks.md') : join(folder, 'http.md');
  const [begin, end] = ['<!-- written by the run -->', '<!-- end of the run -->'];
  const [before, , after] = isFull
    ? readFileSync(page, 'utf8').split(new RegExp(`(?<=${begin})|(?=${end})`))
    : [begin, '', `${end}\n`];
  if (after === undefined) throw new Error(`${page} does not say where the results belong.`);
  writeFileSync(page, `${before}\n\n${text}\n\n${after}`);
  return folder;
}

/** Formats JSON with a line for each item, and reduces each series to `[median, minimum, maximum]`. */
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

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
