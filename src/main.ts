#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { exitCodes, Failure } from './cli/failure.ts';
import { masked } from './cli/output.ts';
import { checkNode, explainMissing } from './cli/package.ts';

/**
 * Node's compile cache, which speeds up the next start. It is inside the package, so that a user who cannot
 * change the program cannot change the cache either.
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
  process.stderr.on('error', () => {}); // Progress is optional: continue if nobody reads it.
}

async function main(): Promise<void> {
  endWithReader();
  try {
    checkNode();
    module.enableCompileCache(compiled); // If the cache can't be written, starts are only slower.
    // Imported here, so that a missing package is reported in one sentence.
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
