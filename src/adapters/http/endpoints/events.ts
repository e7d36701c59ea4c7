import { eventLimits } from '../../../domain/services/event-service.ts';
import { clientKey } from '../client-address.ts';
import { type Context, sendJson, stopSignals } from '../context.ts';
import { type Endpoint, integer } from '../endpoint.ts';
import { releaseSlots } from '../limits/slots.ts';
import { Problem } from '../problems/problem.ts';

/** How many requests of one client can wait for an event. */
const maxWaiting = 100;

/** How many seconds a request can wait. */
const maxWait = eventLimits.waitMs / 1000;

/** The changes of all records, in one order. */
export function eventsEndpoint(): Endpoint {
  const waiting = new Map<string, number>();
  return {
    method: 'GET',
    path: '/events',
    operation: 'listEvents',
    summary: 'List the changes of records',
    description:
      'To begin, read without "after", list all records, then continue from "next". A caller sees the changes of users or posts if it can read all of them.',
    scopes: ['users:read', 'posts:read:all', 'posts:write'],
    query: [
      {
        name: 'after',
        description:
          'The "next" of the previous page. If omitted, returns an empty page at the end.',
        schema: { type: 'string' },
        example: '4711.8211',
      },
      {
        name: 'limit',
        description: 'The maximum number of events on the page.',
        ...integer(1, eventLimits.max, eventLimits.default),
      },
      {
        name: 'wait',
        description: 'How many seconds to wait for an event before returning an empty page.',
        ...integer(0, maxWait, 0),
      },
    ],
    responses: { 200: { description: 'A page of events.', schema: 'EventPage' } },
    problems: ['events-expired', 'events-unavailable'],
    async handle(ctx) {
      const { query, services } = ctx.state.rostrum;
      const [after] = query.get('after') ?? [];
      const limit = Number(query.get('limit')?.[0] ?? eventLimits.default);
      const seconds = ctx.method === 'HEAD' ? 0 : Number(query.get('wait')?.[0] ?? 0);
      if (seconds > 0) {
        limitWaiting(waiting, ctx);
        releaseSlots(ctx); // A request that waits does not count as one in progress.
      }
      const { events, next } = await services.events.read({
        after,
        limit,
        waitMs: seconds * 1000,
        signal: seconds > 0 ? waitSignal(ctx) : undefined,
      });
      const shown = events.map(({ type, collection, id, version }) => {
        return { type: `${collection === 'users' ? 'user' : 'post'}.${type}`, id, version };
      });
      sendJson(ctx, { events: shown, next }, 'no-store');
    },
  };
}

/**
 * Counts a request that waits for an event until it ends.
 *
 * @param waiting the number of such requests of each client
 * @throws Problem `too-many-requests`
 */
function limitWaiting(waiting: Map<string, number>, ctx: Context): void {
  const client = clientKey(ctx);
  const count = waiting.get(client) ?? 0;
  if (count >= maxWaiting) {
    const sentence = `At most ${maxWaiting} of your requests can wait for events at the same time.`;
    throw new Problem('too-many-requests', sentence);
  }
  waiting.set(client, count + 1);
  ctx.res.once('close', () => {
    const left = (waiting.get(client) ?? 1) - 1;
    if (left > 0) waiting.set(client, left);
    else waiting.delete(client);
  });
}

/** Aborted when the client disconnects or half-closes its connection, and when the server stops. */
function waitSignal({ req: { socket }, res }: Context): AbortSignal {
  const stop = stopSignals.get(socket);
  const gone = new AbortController();
  const end = () => gone.abort();
  socket.once('end', end);
  res.once('close', () => {
    socket.off('end', end);
    end();
  });
  if (res.destroyed || socket.readableEnded) end();
  return stop === undefined ? gone.signal : AbortSignal.any([gone.signal, stop]);
}
