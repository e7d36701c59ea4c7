import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { start } from '../../../support/process.ts';
import { program } from '../../../support/server.ts';

/** Starts the program with so little memory that an unbounded response would crash it. */
async function startSmall() {
  const args = ['--log-level', 'error', '--store', 'memory:', '--port', '0'];
  const child = start(process.execPath, ['--max-old-space-size=256', program, ...args]);
  child.stderr.resume();
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url: new URL(/http:\/\/\S+/.exec(String(line))?.[0] ?? '') };
}

describe('a process with a heap of 256 MiB', function () {
  this.timeout(60_000);

  it('survives clients that request large pages without reading them, and then disconnect', async () => {
    const { child, url } = await startSmall();
    for (let n = 0; n < 20; n++) {
      await fetch(new URL('/api/v1/posts', url), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ title: 'x', own: 'x'.repeat(95_000) }),
      });
    }
    const request = 'GET /api/v1/posts?limit=20 HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const sockets: Socket[] = [];
    while (sockets.length < 250) {
      const socket = connect(Number(url.port), url.hostname).on('error', () => {});
      socket.pause();
      socket.write(request.repeat(8));
      // With pauses, so that later requests are not rejected because the queue is full.
      if (sockets.push(socket) % 100 === 0) await sleep(50);
    }
    for (let n = 0; n < 6; n++) {
      await sleep(1000);
      expect((await fetch(new URL('/livez', url))).status).to.equal(200);
    }
    // During shutdown, queued requests must still be handled, even if their clients have disconnected.
    for (const socket of sockets) socket.destroy();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
  });
});
