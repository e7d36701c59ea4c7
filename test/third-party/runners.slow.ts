import { execFile } from 'node:child_process';
import type * as nodeTest from 'node:test';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { expect } from 'chai';
import type { Runner } from '../../src/testing/index.ts';
import { bundledSuite } from './suite-bundle.ts';

describe('the contract suite, on another runner', () => {
  it('runs on node:test', async () => {
    const module = (path: string) => new URL(`../../src/${path}`, import.meta.url).href;
    const program = `
      import { describe, it } from 'node:test';
      import { createMemoryStore } from '${module('adapters/memory/index.ts')}';
      import { describeStore } from '${module('testing/index.ts')}';
      describeStore('memory', { describe, it, open: createMemoryStore });
    `;
    const args = ['--input-type=module', '--test-reporter=tap', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    // Fails to compile when the types do not fit.
    const fits = (runner: Pick<typeof nodeTest, 'describe' | 'it'>): Runner => runner;
    expect(fits).to.be.a('function');
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).to.be.above(120);
    expect(stdout).to.match(/^# fail 0$/m);
  });

  it('runs without Node', async () => {
    // Nothing but the language and what every platform of the web has.
    const context = vm.createContext({ setTimeout, URL, AbortSignal, TextEncoder });
    vm.runInContext(await bundledSuite(), context);
    const globals = 'typeof process + typeof Buffer + typeof setImmediate';
    expect(vm.runInContext(globals, context)).to.equal('undefined'.repeat(3));
    const [count, failures] = JSON.parse(await vm.runInContext('bundle.run()', context));
    expect(failures).to.deep.equal([]);
    expect(count).to.be.above(120);
  });
});
