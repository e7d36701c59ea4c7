import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/** Where a person is asked. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
}

/**
 * Asks for a yes on a terminal; anything else is a no.
 *
 * @returns undefined when nobody can be asked, because there is no terminal
 */
export async function ask(
  question: string,
  signal: AbortSignal,
  { stdin, stderr }: Terminal = process,
): Promise<boolean | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  const lines = createInterface({ input: stdin, output: stderr });
  // The reader takes Ctrl+C and Ctrl+D from the terminal.
  lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const end = once(lines, 'close').then(() => '');
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), end]);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
