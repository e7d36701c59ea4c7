#!/usr/bin/env node
import { Failure } from './cli/failure.ts';
import { checkNode, explainMissing } from './cli/package.ts';

async function main(): Promise<void> {
  try {
    checkNode();
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
