import { build } from 'esbuild';
import { repository } from '../support/repository-copy.ts';

const contents = `
  import { createMemoryStore } from './src/adapters/memory/index.ts';
  import { collect, failuresOf } from './test/testing/runner.ts';
  export async function run() {
    const tests = collect({ open: createMemoryStore });
    const failures = await failuresOf(tests);
    const messages = [...failures].map(([name, error]) => name + ': ' + error.message);
    return JSON.stringify([tests.length, messages]);
  }`;

/** Bundles the contract suite and the memory store into a script that defines `bundle.run()`. */
export async function bundledSuite(): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: repository },
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    globalName: 'bundle',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}
