import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { outcomeOf, start } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';

describe('npm start', function () {
  this.timeout(20_000);

  it('hands SIGTERM on to the server, which ends with 0', async () => {
    const args = ['start', '--silent', '--', '--store', 'memory:'];
    const child = start('npm', args, { cwd: repository });
    const outcome = outcomeOf(child);
    const [ready] = await once(createInterface({ input: child.stdout }), 'line');
    const address = /^Rostrum is ready at (\S+)/.exec(ready)?.[1];
    child.kill('SIGTERM'); // npm alone, as a service manager does.
    const { code, stderr } = await outcome;
    expect(code, stderr).to.equal(0);
    expect(stderr).to.contain('shutting down');
    expect(await fetch(`${address}/livez`).catch(() => 'gone')).to.equal('gone');
  });
});
