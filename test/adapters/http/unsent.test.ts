import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { Unsent } from '../../../src/adapters/http/unsent.ts';
import { isRostrumError } from '../../../src/domain/errors.ts';

describe('answers that were not sent yet', () => {
  const server = createServer();
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => server.close());

  /** A response to a client who waits for it. */
  async function response(): Promise<{ readonly client: Socket; readonly answer: ServerResponse }> {
    const { port } = server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {}).resume();
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, answer] = (await once(server, 'request')) as [unknown, ServerResponse];
    return { client, answer };
  }

  function isFull(unsent: Unsent): boolean {
    try {
      unsent.check();
      return false;
    } catch (error) {
      if (isRostrumError(error, 'overloaded')) return true;
      throw error;
    }
  }

  it('count until they are sent', async () => {
    const unsent = new Unsent(10);
    const { client, answer } = await response();
    unsent.open(answer).settle(10);
    expect(isFull(unsent)).to.equal(true);
    answer.end('0123456789');
    await once(answer, 'close');
    expect(isFull(unsent)).to.equal(false);
    client.destroy();
  });

  it('count until their client is gone, and not after', async () => {
    const unsent = new Unsent(10);
    const { client, answer } = await response();
    const held = unsent.open(answer);
    held.settle(10);
    client.destroy();
    await once(answer, 'close');
    expect(isFull(unsent)).to.equal(false);
    held.settle(20);
    unsent.open(answer).settle(20);
    expect(isFull(unsent)).to.equal(false);
  });

  it('have one listener on the connection that they share', async () => {
    const unsent = new Unsent(20);
    const { client, answer } = await response();
    const { socket } = answer.req;
    const before = socket.listenerCount('close');
    unsent.open(answer).settle(1);
    const pipelined: ServerResponse[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const collect = (_request: unknown, next: ServerResponse) => {
      if (pipelined.push(next) === 19) resolve();
    };
    server.on('request', collect);
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(19));
    await promise;
    server.off('request', collect);
    for (const next of pipelined) unsent.open(next).settle(1);
    expect(socket.listenerCount('close')).to.equal(before + 1);
    expect(isFull(unsent)).to.equal(true);
    client.destroy();
    await once(socket, 'close');
    expect(isFull(unsent)).to.equal(false);
  });

  it('count while they grow, and may grow no more when they are too much together', async () => {
    const unsent = new Unsent(10);
    const [one, two] = [await response(), await response()];
    const [first, second] = [unsent.open(one.answer), unsent.open(two.answer)];
    first.grow(6);
    second.grow(6);
    expect(() => first.grow(1))
      .to.throw()
      .with.property('code', 'overloaded');
    second.settle(3); // Whole, it turned out smaller.
    first.grow(1);
    expect(isFull(unsent)).to.equal(true);
    one.client.destroy();
    two.client.destroy();
    await Promise.all([once(one.answer, 'close'), once(two.answer, 'close')]);
    expect(isFull(unsent)).to.equal(false);
  });
});
