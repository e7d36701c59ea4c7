import { expect } from 'chai';
import { freePort } from '../support/free-port.ts';
import { outcomeOf, start } from '../support/process.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { program } from '../support/server.ts';
import { blocksOf } from './markdown.ts';

describe('docs/accounts.md', function () {
  this.timeout(60_000);

  it('creates a key for each of two authors with three commands', async () => {
    const [block] = blocksOf('docs/accounts.md', 'sh').filter(({ text }) =>
      text.includes('--subject'),
    );
    const [ada, grace, serve] = (block?.text ?? '').trim().split('\n');
    await using folder = await temporaryDirectory();
    const port = String(await freePort());
    const api = `http://127.0.0.1:${port}/api/v1`;
    const send = `curl -s -H 'Content-Type: application/json' -H "Authorization: Bearer $key"`;
    const script = `
      rostrum() { "$NODE" "$MAIN" "$@"; }
      keys="$(${ada}) $(${grace})"
      rostrum() { exec "$NODE" "$MAIN" "$@"; }
      ${serve} > ready &
      until [ -s ready ]; do sleep 0.1; done
      for key in $keys; do
        ${send} -X PUT ${api}/users/me -d '{"name": "A name"}' | cut -d '"' -f 4
        ${send} ${api}/posts -d '{"title": "x"}' | grep -o '"authorId":"[a-z]*"'
      done
      kill %1; wait`;
    const env = { NODE: process.execPath, MAIN: program, PORT: port, STORE_URL: 'memory:' };
    const { stdout, output } = await outcomeOf(
      start('bash', ['-c', script], { cwd: folder.path, env }),
    );
    const expected = ['ada', '"authorId":"ada"', 'grace', '"authorId":"grace"'];
    expect(stdout.trim().split('\n'), output).to.deep.equal(expected);
  });
});
