import { once } from 'node:events';
import { connect } from 'node:net';
import { type Answer, type Api, startApi } from '../adapters/http/support/api.ts';
import { Creation, expectReplayed } from './creations.ts';
import { Faults } from './faults.ts';
import { describeOnEach } from './subjects.ts';

// The client's own connection is cut, while it sends the request or reads the answer.

/** How a client goes: in an orderly way, or as one whose machine fails. */
const ways = ['destroy', 'resetAndDestroy'] as const;

/** Characters of the request from one cut to the next. */
const stride = 23;

await describeOnEach('An idempotent POST whose connection is cut', (make) => {
  const subjectOf = make(new Faults());
  let api: Api;
  let author: string;

  before(async function open() {
    this.timeout(60_000);
    api = await startApi({ store: await subjectOf().open() });
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => api[Symbol.asyncDispose]());

  for (const kind of ['users', 'posts'] as const) {
    for (const way of ways) {
      it(`makes one of ${kind}, whatever of the request was sent (${way})`, async () => {
        const made: [Creation, Answer][] = [];
        const { length } = new Creation(kind, author).text;
        for (let sent = 1; sent < length + stride; sent += stride) {
          const creation = new Creation(kind, author);
          await send(creation.text.slice(0, sent), way);
          made.push([creation, await creation.retry(api)]);
        }
        // Those that were sent whole may only now come to their end.
        for (const [creation, answer] of made) await creation.expectOne(api, answer);
      });

      it(`makes one of ${kind} when the answer is on its way (${way})`, async () => {
        const creation = new Creation(kind, author);
        await send(creation.text, way, 'data');
        const repeat = await creation.retry(api);
        expectReplayed(repeat, repeat);
        await creation.expectOne(api, repeat);
      });
    }
  }

  /** Sends a text, waits for what is to come if there is anything, and goes. */
  async function send(text: string, go: (typeof ways)[number], event?: 'data'): Promise<void> {
    const { port, address } = api.server.address;
    const socket = connect(port, address);
    socket.on('error', () => {});
    await once(socket, 'connect');
    await new Promise((resolve) => socket.write(text, resolve));
    if (event) await once(socket, event);
    socket[go]();
  }
});
