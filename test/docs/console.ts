import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Block, root } from './markdown.ts';

/** A command of a page, and what the page says that it prints. */
export interface Step {
  readonly command: string;
  readonly expected: string;
  readonly line: number;
}

/** The steps of a console session: `$ ` before a command, its output below it. */
export function stepsOf({ text, line }: Block): Step[] {
  const steps: { command: string; expected: string; line: number }[] = [];
  for (const [index, row] of text.split('\n').entries()) {
    if (row.startsWith('$ ')) {
      steps.push({ command: row.slice(2), expected: '', line: line + index + 1 });
    } else {
      const last = steps.at(-1);
      if (last !== undefined) last.expected += `${row}\n`;
    }
  }
  return steps;
}

/** Runs all commands in one shell, so that a variable that one sets is there for the next. */
export async function runSteps(steps: readonly Step[], address: string): Promise<string[]> {
  const mark = '=====end-of-step=====';
  const script = steps.map(({ command }) => `${command}\necho; echo ${mark}`).join('\n');
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', script.replaceAll('http://127.0.0.1:3000', address)],
    { cwd: root, maxBuffer: 2 ** 26 },
  );
  return stdout
    .replaceAll('\r\n', '\n')
    .replaceAll(address, 'http://127.0.0.1:3000')
    .split(`${mark}\n`)
    .slice(0, steps.length);
}
