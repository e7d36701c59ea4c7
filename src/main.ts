#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { exitCodes, Failure } from './cli/failure.ts';
import { masked } from './cli/output.ts';
import { checkNode, explainMissing } from './cli/package.ts';

/**
 * Where Node keeps what it compiled, for the next start. It lies in the package itself: a user that cannot
 * change the program must not change that either.
 */
const compiled = fileURLToPath(new URL('../.cache/compiled', import.meta.url));

/** Exits when the reader of standard output, such as `head`, has closed the pipe. */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    const isHandled = process.stdout.listenerCount('error') > 1; // The command has a listener of its own.
    if (isHandled) return;
    if (error.code === 'EPIPE') process.exit(exitCodes.endedByPipe);
    process.stderr.write(`Standard output cannot be written (${error.code}).\n`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on('error', () => {}); // How far a command has come need not be read.
}

async function main(): Promise<void> {
  endWithReader();
  try {
    checkNode();
    module.enableCompileCache(compiled); // Where it cannot be written, starts are slower.
    // Imported here, so that a package which is missing ends in a sentence.
    const { runProgram } = await import('./cli/program.ts');
    await runProgram(process.argv.slice(2));
  } catch (thrown) {
    const error = explainMissing(thrown);
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${masked(error.message)}\n`);
    process.exitCode = error.exitCode;
  }
}

void main();
