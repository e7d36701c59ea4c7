import { once } from 'node:events';
import { type Api, startApi } from '../adapters/http/support/api.ts';
import { RawConnection } from '../adapters/http/support/raw.ts';
import { openTemporarySqlite } from '../support/temporary-sqlite.ts';
import { Creation, resources } from './creations.ts';

/** The number of characters between the positions at which the request is cut. */
const stride = 23;

describe('an idempotent POST whose client disconnects', () => {
  let api: Api;
  let author: string;

  before(async () => {
    api = await startApi({ store: openTemporarySqlite() });
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => api[Symbol.asyncDispose]());

  for (const resource of resources) {
    // A client that closes its connection, and one whose connection is reset.
    for (const way of ['destroy', 'resetAndDestroy'] as const) {
      it(`creates one record (${resource}) when retried, wherever the request was cut (${way})`, async () => {
        const { length } = new Creation(resource, author).text;
        const creations: Creation[] = [];
        for (let sent = 1; sent < length + stride; sent += stride) {
          const creation = new Creation(resource, author);
          creations.push(creation);
          const { socket } = new RawConnection(api.server);
          await new Promise((written) => socket.write(creation.text.slice(0, sent), written));
          socket[way]();
        }
        // Complete requests may still be in progress.
        const retries = creations.map(async (creation) => ({
          creation,
          made: await creation.retry(api),
        }));
        for (const { creation, made } of await Promise.all(retries)) {
          await creation.expectOne(api, made);
        }
      });

      it(`creates one record (${resource}) when retried, if cut during the response (${way})`, async () => {
        const creation = new Creation(resource, author);
        const { socket } = new RawConnection(api.server).send(creation.text);
        await once(socket, 'data');
        socket[way]();
        await creation.expectOne(api, await creation.retry(api));
      });
    }
  }
});
