import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Faults } from './faults.ts';

/** Commands that the driver sends on its own. */
const notSteps = new Set(['hello', 'ismaster', 'isMaster', 'ping', 'endSessions']);

/**
 * A proxy between the driver and a local server. Every command is a step, which fails by closing the connection
 * before the command or its response is forwarded. Late commands are forwarded when {@link release} is called.
 */
export class FailingProxy implements AsyncDisposable {
  readonly #faults: Faults;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #late: (() => Promise<void>)[] = [];

  static async start(port: number, faults: Faults): Promise<FailingProxy> {
    const proxy = new FailingProxy(port, faults);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  private constructor(port: number, faults: Faults) {
    this.#faults = faults;
    this.#server = createServer((client) => this.#join(client, connect(port, '127.0.0.1')));
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('It does not listen.');
    return address.port;
  }

  /** Forwards late commands. Resolves when the server has responded to all of them. */
  async release(): Promise<void> {
    await Promise.all(this.#late.splice(0).map((pass) => pass()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket, server: Socket): void {
    const messages = new Messages();
    let cutAtAnswer = false;
    let isLate = false;
    const cut = () => {
      client.destroy();
      server.destroy();
    };

    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (!isLate) cut();
      });
    }
    client.on('data', (chunk) => {
      for (const message of messages.add(chunk)) {
        const command = commandOf(message);
        const isStep = command !== undefined && !notSteps.has(command);
        const side = isStep ? this.#faults.next(command) : undefined;
        if (side === 'before') return cut();
        if (side === 'late') {
          isLate = true;
          client.destroy();
          this.#late.push(() => answered(server, message));
          return;
        }
        cutAtAnswer = side === 'after';
        server.write(message);
      }
    });
    // The driver sends one command at a time per connection, so any response belongs to it.
    server.on('data', (chunk) => {
      if (cutAtAnswer) cut();
      else if (!isLate) client.write(chunk);
    });
  }
}

function answered(server: Socket, message: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (server.destroyed) return resolve();
    server.once('close', () => resolve());
    server.once('data', () => server.destroy());
    server.write(message);
  });
}

/** Assembles messages of MongoDB's wire protocol from chunks. */
class Messages {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the messages that this chunk completes. */
  add(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const complete: Buffer[] = [];
    while (this.#rest.length >= 4 && this.#rest.length >= this.#rest.readInt32LE()) {
      const length = this.#rest.readInt32LE();
      complete.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
    }
    return complete;
  }
}

/** https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/#op_msg */
const opMsg = { code: 2013, firstKey: 26 };

/** Returns the command name of a message, which is the first key of its first document. */
function commandOf(message: Buffer): string | undefined {
  if (message.readInt32LE(12) !== opMsg.code) return undefined;
  return message.toString('latin1', opMsg.firstKey, message.indexOf(0, opMsg.firstKey));
}
