import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { node } from './support/process.ts';
import { repository, temporaryDirectory } from './support/repository-copy.ts';

// A test that times out must leave no processes behind. Runs such a test the way `npm test` does.

const imports = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import { startServer } from '${join(repository, 'test/support/server.ts')}';
`;

async function runPlanted(body: string) {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'planted.test.ts');
  await writeFile(file, `${imports}\n${body}`);
  return await node(['node_modules/mocha/bin/mocha.js', file], { cwd: repository });
}

describe('a test run', function () {
  this.timeout(60_000);

  it('stops the processes of a test that timed out, and lets it start no more', async () => {
    const { code, output } = await runPlanted(`
      let server;
      it('hangs', async function () {
        this.timeout(15_000);
        server = await startServer('--store', 'memory:');
        await server.stop('SIGCONT');
        await startServer('--store', 'memory:').catch((error) => console.log(error.message));
      });
      it('runs afterwards', async () => {
        const answer = await fetch(server.address).catch((error) => error.cause.code);
        console.log('connecting:', answer);
        await sleep(100);
      });
    `);
    expect(code, output).to.equal(1);
    expect(output)
      .to.match(/1 passing/)
      .and.to.match(/1\) hangs/);
    expect(output).to.contain('connecting: ECONNREFUSED');
    expect(output).to.match(/"hangs" is over and cannot start /);
  });
});
