import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { VirtualSocket } from '../../../../src/adapters/http/fetch/virtual-socket.ts';
import { PendingClients } from '../../../../src/adapters/http/limits/pending-clients.ts';

describe('pending clients', () => {
  it('get back their timeout, and after the response Node’s timeout for idle connections', async () => {
    const clients = new PendingClients();
    const server = createServer();
    server.setTimeout(120_000);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    /** Returns the timeout of a connection after {@link PendingClients.delete}, during a response and after it. */
    const timeouts = async (isWatched: boolean) => {
      const { promise, resolve } = Promise.withResolvers<(number | undefined)[]>();
      server.once('request', ({ socket }, response) => {
        const end = () => {
          clients.delete(socket);
          return socket.timeout;
        };
        const begin = () => {
          clients.add(socket);
          if (isWatched) clients.closeStalled();
        };
        begin();
        const during = end();
        begin();
        response.once('close', () => resolve([during, end()])).end('x');
      });
      await (await fetch(`http://127.0.0.1:${port}`)).text();
      return promise;
    };
    const [during, after] = await timeouts(false);
    expect(during).to.equal(120_000);
    expect(after).to.be.within(server.keepAliveTimeout, 119_999);
    expect(await timeouts(true)).to.deep.equal([during, after]);
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  it('have stalled only if the timeout closed their connection', async () => {
    const clients = new PendingClients();
    const stalled = new VirtualSocket(undefined, false) as unknown as Socket;
    const left = new Socket();
    for (const socket of [stalled, left]) clients.add(socket);
    clients.closeStalled();
    left.destroy();
    expect(clients.delete(left)).to.equal(false);
    await once(stalled, 'close');
    expect(clients.delete(stalled)).to.equal(true);
    expect(clients.size).to.equal(0);
  });
});
