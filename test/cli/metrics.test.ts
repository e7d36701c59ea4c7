import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { runProgram } from '../../src/cli/program.ts';
import { samplesOf } from '../adapters/metrics/support.ts';
import { freePort } from '../support/free-port.ts';
import { startServer } from '../support/server.ts';
import { failureOf } from './failure.ts';

const memory = ['--store', 'memory:', '--log-level', 'error'];

describe('the program, with metrics', function () {
  this.timeout(30_000);

  it('serves only /metrics on a separate port until it exits', async () => {
    const port = await freePort();
    await using server = await startServer(...memory, '--metrics-port', String(port));
    const at = (path: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${path}`, { method });
    await fetch(`${server.address}/api/v1/users`);
    const response = await at('/metrics');
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.equal(
      'text/plain; version=0.0.4; charset=utf-8',
    );
    const samples = samplesOf(await response.text());
    const value = (wanted: string) => samples.find(({ name }) => name === wanted)?.value;
    expect(value('rostrum_http_request_duration_seconds_count')).to.equal(1);
    expect(value('rostrum_store_operation_duration_seconds_count')).to.equal(1);
    expect(value('rostrum_http_connections')).to.be.above(0);
    expect(value('process_resident_memory_bytes')).to.be.above(1e7);
    expect(value('nodejs_eventloop_lag_p99_seconds')).to.be.above(0);
    expect((await at('/metrics', 'HEAD')).status).to.equal(200);
    for (const [path, method, status] of [
      ['/', 'GET', 404],
      ['/api/v1/users', 'GET', 404],
      ['/metrics', 'POST', 405],
    ] as const) {
      expect((await at(path, method)).status, path).to.equal(status);
    }
    expect(await (await at('/users')).json()).to.include({
      error: 'No such path. This port serves /metrics and /livez.',
    });
    expect((await fetch(`${server.address}/metrics`)).status).to.equal(404);
    const named = get({ port, path: '/metrics', headers: { Host: 'evil.example' } });
    const [{ statusCode }] = await once(named, 'response');
    expect(statusCode, 'under a name that a web page made').to.equal(421);
    named.destroy();
    expect(await server.stop()).to.equal(0);
  });

  it('names the setting at fault if it cannot listen, and leaves nothing open', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    expect(await failureOf(runProgram([...memory, '--metrics-port', port]))).to.match(
      /^--metrics-host is "127\.0\.0\.1" and --metrics-port is \d+, but .* address already in use/,
    );
    const free = String(await freePort());
    const both = [...memory, '--port', port, '--metrics-port', free];
    expect(await failureOf(runProgram(both))).to.match(
      /^--host is "127\.0\.0\.1" and --port is \d+, but .* address already in use/,
    );
    const again = createServer().listen(Number(free), '127.0.0.1');
    await once(again, 'listening');
    again.close();
    taken.close();
    const nowhere = [...memory, '--metrics-port', '0', '--metrics-host', '192.0.2.1'];
    expect(await failureOf(runProgram(nowhere))).to.match(/^--metrics-host is "192\.0\.2\.1"/);
  });
});
