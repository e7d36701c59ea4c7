import { once } from 'node:events';
import { connect } from 'node:net';
import { type Api, startApi } from '../adapters/http/support/api.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { Creation } from './creations.ts';

/** How a client goes: in an orderly way, or as one whose machine fails. */
const ways = ['destroy', 'resetAndDestroy'] as const;

/** Characters of the request from one cut to the next. */
const stride = 23;

describe('An idempotent POST whose connection the client cuts', () => {
  let api: Api;
  let author: string;

  before(async () => {
    api = await startApi({ store: openTemporarySqlite() });
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => api[Symbol.asyncDispose]());

  for (const resource of ['users', 'posts'] as const) {
    for (const way of ways) {
      it(`makes one of ${resource}, whatever of the request was sent (${way})`, async () => {
        const { length } = new Creation(resource, author).text;
        const creations: Creation[] = [];
        for (let sent = 1; sent < length + stride; sent += stride) {
          const creation = new Creation(resource, author);
          await send(creation.text.slice(0, sent), way);
          creations.push(creation);
        }
        const made = await Promise.all(creations.map((creation) => creation.retry(api)));
        // Those that were sent whole may only now come to their end.
        for (const [i, creation] of creations.entries()) {
          const response = made[i];
          if (response) await creation.expectOne(api, response);
        }
      });

      it(`makes one of ${resource} when the response is on its way (${way})`, async () => {
        const creation = new Creation(resource, author);
        await send(creation.text, way, 'data');
        await creation.expectOne(api, await creation.retry(api));
      });
    }
  }

  /** Sends a text, waits for an event if one is named, and goes. */
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
