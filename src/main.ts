#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { Failure } from './cli/failure.ts';
import { checkNode, explainMissing } from './cli/package.ts';

/**
 * Where Node keeps what it compiled, for the next start. It lies in the package itself: who cannot
 * change the program must not change that either.
 */
const compiled = fileURLToPath(new URL('../.cache/compiled', import.meta.url));

async function main(): Promise<void> {
  try {
    checkNode();
    module.enableCompileCache(compiled); // Where it cannot be written, starts are slower.
    // Imported here, so that a package which is missing ends in a sentence.
    const { runProgram } = await import('./cli/program.ts');
    await runProgram(process.argv.slice(2));
  } catch (thrown) {
    const error = explainMissing(thrown);
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

void main();
