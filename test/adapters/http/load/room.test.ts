import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Exchange } from '../../../../src/adapters/http/exchange.ts';
import { smallBytes } from '../../../../src/adapters/http/load/memory.ts';
import {
  type RequestKind,
  Room,
  roomLimits,
  type Visit,
} from '../../../../src/adapters/http/load/room.ts';
import { json } from '../../../../src/adapters/http/response.ts';
import { until } from '../../../support/until.ts';

const kibi = 1024;
const limits = { ...roomLimits, bytes: 1024 * kibi, long: 1 };

/** A client that takes nothing, until its connection is cut. */
class Client {
  readonly ended = new AbortController();
  end = () => {};
  isCut = false;
  readonly socket = {
    bytesRead: 0,
    bytesWritten: 0,
    destroy: () => {
      this.isCut = true;
    },
  };
  isGone = false;

  enter(room: Room, kind: RequestKind = 'list', key = ''): Visit {
    const { socket, ended } = this;
    const checkWaited = () => {
      if (this.isGone) throw new Error('gone');
    };
    const checkClient = () => {};
    const atEnd = (end: () => void) => {
      this.end = end;
    };
    const { signal } = ended;
    const exchange = { req: { socket }, signal, checkClient, checkWaited, atEnd };
    return room.enter(exchange as unknown as Exchange, kind, key);
  }
}

const enter = (room: Room, kind?: RequestKind, key?: string) => {
  return new Client().enter(room, kind, key);
};

describe('the room', () => {
  it('lets large ones wait in a line for what others give back, and small ones never', async () => {
    const room = new Room(limits);
    const first = enter(room);
    expect(first.reserve(700 * kibi)).to.equal(undefined);
    const second = enter(room);
    const waiting = second.reserve(200 * kibi);
    expect(waiting, 'three quarters are for large ones').to.be.instanceOf(Promise);
    expect(enter(room).reserve(smallBytes)).to.equal(undefined);
    expect(enter(room).reserve(100 * kibi), 'behind the line').to.be.instanceOf(Promise);
    expect(room.state).to.include({ waiting: 2, bytes: 764 * kibi });
    first.settle(100 * kibi);
    await waiting;
    expect(second.bytes).to.equal(200 * kibi);
  });

  it('has room for one that is larger than all of it', () => {
    expect(enter(new Room(limits)).reserve(5000 * kibi)).to.equal(undefined);
  });

  it('gives back what a response held when its connection closes', () => {
    const room = new Room(limits);
    const client = new Client();
    client.enter(room).reserve(700 * kibi);
    client.end();
    expect(room.state.bytes).to.equal(0);
  });

  it('waits no longer than the deadline', async () => {
    const room = new Room(limits);
    enter(room).reserve(700 * kibi);
    const late = new Client();
    const waiting = late.enter(room).reserve(700 * kibi);
    late.ended.abort(new Error('late'));
    const error = await waiting?.catch((reason: Error) => reason);
    expect(error).to.have.property('message', 'late');
    expect(room.state).to.include({ waiting: 0 });
  });

  it('cuts clients that stand still while others wait, and none that moves', async () => {
    const room = new Room(limits);
    const [still, slow] = [new Client(), new Client()];
    const hold = (client: Client) => {
      const visit = client.enter(room);
      visit.reserve(350 * kibi);
      visit.leave();
    };
    hold(slow);
    hold(still);
    const reading = setInterval(() => (slow.socket.bytesWritten += 1), 100);
    await sleep(600);
    expect(still.isCut, 'while nothing waits').to.equal(false);
    await enter(room).reserve(350 * kibi);
    clearInterval(reading);
    expect([still.isCut, slow.isCut]).to.deep.equal([true, false]);
    expect(room.state.cut).to.equal(1);
  });

  it('drops a response that has no room, and makes it again when there is', async () => {
    const room = new Room(limits);
    const first = enter(room);
    first.reserve(700 * kibi);
    let made = 0;
    const large = async () => {
      made += 1;
      return json(200, Buffer.alloc(500 * kibi));
    };
    const making = enter(room, 'read', 'id').make(large);
    await until(() => room.state.waiting === 1, 'it waits');
    expect([made, room.state.bytes]).to.deep.equal([1, 700 * kibi]);
    first.settle(0);
    await making;
    expect(made).to.equal(2);
    expect(room.known.bytesOf('id')).to.equal(500 * kibi);
  });

  it('drops no response to a change, but cuts who holds one without need', async () => {
    const room = new Room(limits);
    const client = new Client();
    const holder = client.enter(room);
    holder.reserve(700 * kibi);
    holder.leave();
    let made = 0;
    await enter(room, 'write', 'id').make(async () => {
      made += 1;
      return json(200, Buffer.alloc(500 * kibi));
    });
    expect([made, client.isCut, room.state.bytes]).to.deep.equal([1, true, 500 * kibi]);
  });

  it('lets nothing that holds up others wait for memory that those hold', async () => {
    const room = new Room(limits);
    const large = async () => json(200, Buffer.alloc(380 * kibi));
    const ids = ['a', 'b', 'c'];
    for (const id of ids) {
      const client = new Client();
      await client.enter(room, 'write', id).make(large);
      client.end();
    }
    const changes = ids.map(async (id) => {
      const client = new Client();
      const visit = client.enter(room, 'write', id);
      await visit.reserve(370 * kibi);
      await visit.runLong(() => visit.make(large));
      client.end();
    });
    await Promise.race([
      Promise.all(changes),
      sleep(1000).then(() => expect.fail('they wait for each other')),
    ]);
  });

  it('does what was long the last time one after another, and lets quick work pass', async () => {
    const room = new Room(limits);
    const seen = { now: 0, most: 0 };
    const slow = async () => {
      seen.now += 1;
      seen.most = Math.max(seen.most, seen.now);
      await sleep(60);
      seen.now -= 1;
      return json(200, '{}');
    };
    for (let n = 0; n < 2; n++) await enter(room, 'list', 'slow').make(slow);
    const all = Array.from({ length: 4 }, () => enter(room, 'list', 'slow').make(slow));
    const start = performance.now();
    await enter(room, 'list', 'quick').make(async () => json(200, '{}'));
    expect(performance.now() - start).to.be.below(50);
    await Promise.all(all);
    expect(seen.most).to.equal(1);
  });

  it('gives each key its turn, however many requests of another one wait', async () => {
    const room = new Room(limits);
    const done: string[] = [];
    const slow = (key: string) =>
      enter(room, 'list', key).make(async () => {
        await sleep(60);
        done.push(key);
        return json(200, '{}');
      });
    for (const key of ['many', 'many', 'one', 'one']) await slow(key);
    await Promise.all([...Array.from({ length: 5 }, () => slow('many')), slow('one')]);
    expect(done.slice(4).indexOf('one')).to.be.below(3);
  });

  it('tries a list that it does not know alone', async () => {
    const room = new Room(limits);
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const list = () =>
      enter(room, 'list', 'new').make(async () => {
        begun += 1;
        await gate.promise;
        return json(200, '{}');
      });
    const all = [list(), list(), list(), list()];
    await sleep(10);
    expect(begun).to.equal(1);
    gate.resolve();
    await Promise.all(all);
  });

  it('lets others work when a client left while it waited', async () => {
    const room = new Room(limits);
    const gate = Promise.withResolvers<void>();
    const work = async () => {
      await gate.promise;
      return 1;
    };
    const first = enter(room).runLong(work);
    const leaving = new Client();
    const left = leaving.enter(room).runLong(work);
    leaving.isGone = true;
    gate.resolve();
    await first;
    expect(await left.catch((error: Error) => error.message)).to.equal('gone');
    expect(await enter(room).runLong(work)).to.equal(1);
  });
});
