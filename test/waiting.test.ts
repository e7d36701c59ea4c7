import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { freePort } from './support/free-port.ts';
import { startCommand } from './support/server.ts';

describe('the program, while its store is away', function () {
  this.timeout(60_000);

  it('responds, is not ready, does not say that it is, and ends when it is told to', async () => {
    const [port, nowhere] = await Promise.all([freePort(), freePort()]);
    const store = `mongodb://127.0.0.1:${nowhere}/rostrum`;
    // A server that waits for its store does not say where it listens.
    const child = startCommand(['--port', `${port}`, '--store', store]);
    let said = '';
    const exited = once(child, 'exit');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const lines = createInterface({ input: child.stderr });
    for await (const line of lines) {
      if (/the store is not ready/.test(line)) break;
    }
    const address = `http://127.0.0.1:${port}`;
    expect((await fetch(`${address}/livez`)).status).to.equal(200);
    expect((await fetch(`${address}/readyz`)).status).to.equal(503);
    const response = await fetch(`${address}/api/v1/users`);
    expect([response.status, response.headers.has('Retry-After')]).to.deep.equal([503, true]);
    expect(said).to.equal('');
    child.kill('SIGTERM');
    expect((await exited)[0]).to.equal(0);
  });
});
