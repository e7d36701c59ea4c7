import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { freePort } from './support/free-port.ts';
import { startCommand } from './support/server.ts';

describe('the program, while its store is unavailable', function () {
  this.timeout(60_000);

  it('responds with 503, does not print that it is ready, and exits on SIGTERM', async () => {
    const [port, nowhere] = await Promise.all([freePort(), freePort()]);
    const store = `mongodb://127.0.0.1:${nowhere}/rostrum`;
    // A fixed port: the server only prints its address when the store is ready.
    const child = startCommand(['--port', `${port}`, '--store', store]);
    let said = '';
    const log: string[] = [];
    const exited = once(child, 'exit');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const lines = createInterface({ input: child.stderr });
    for await (const line of lines) {
      log.push(line);
      if (/MongoDB database cannot be opened yet/.test(line)) break;
    }
    lines.on('line', (line) => log.push(line));
    const address = `http://127.0.0.1:${port}`;
    expect((await fetch(`${address}/livez`)).status).to.equal(200);
    expect((await fetch(`${address}/readyz`)).status).to.equal(503);
    const response = await fetch(`${address}/api/v1/users`);
    expect([response.status, response.headers.has('Retry-After')]).to.deep.equal([503, true]);
    expect(said).to.equal('');
    child.kill('SIGTERM');
    expect((await exited)[0]).to.equal(0);
    // One warning, with the reason but no stack.
    const warnings = log.map((line) => JSON.parse(line)).filter(({ err, reason }) => err ?? reason);
    expect(warnings.filter(({ code }) => code === undefined)).to.have.lengthOf(1);
    expect(warnings[0]).to.include({ level: 'warn', hosts: `127.0.0.1:${nowhere}` });
    expect(warnings[0].reason).to.contain('ECONNREFUSED');
    expect(warnings[0]).not.to.have.property('err');
  });
});
