import { codePoints } from '../../../domain/records/text.ts';
import { eventLimits } from '../../../domain/services/event-service.ts';
import type { RecordEvent } from '../../../ports/event-log.ts';
import { rateLimitKey } from '../access/rate-limit.ts';
import { type Context, namedCaller, stopSignal } from '../context.ts';
import type { Endpoint } from '../endpoint.ts';
import { KeyedSemaphore } from '../limits/semaphore.ts';
import { Problem } from '../problems/problem.ts';
import { sendJson } from '../send.ts';
import { maxPositionLength } from '../sizes.ts';
import { integer } from '../validate.ts';

/** How many requests can wait: for an event or to be admitted, and for an event per named caller and per address. */
const maxWaiting = { total: 1000, caller: 50, address: 100 };

/** How many seconds a request can wait. */
const maxWait = eventLimits.waitMs / 1000;

/** Seconds after which a client with too many waiting requests can try again. */
const retryAfter = 5;

/** The changes of all records, in one order. */
export function eventsEndpoint(): Endpoint {
  const waiting = new KeyedSemaphore();
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
        schema: { type: 'string', maxLength: maxPositionLength },
        example: '4711.8211',
        check: (value) =>
          codePoints(value) > maxPositionLength
            ? `Must have at most ${maxPositionLength} characters.`
            : undefined,
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
    capacity: maxWaiting.total, // One event wakes every waiting client, and they all reconnect at once.
    async handle(ctx) {
      const { query, services, reservations } = ctx.state.rostrum;
      const [after] = query.get('after') ?? [];
      const limit = Number(query.get('limit')?.[0] ?? eventLimits.default);
      const seconds = ctx.method === 'HEAD' ? 0 : Number(query.get('wait')?.[0] ?? 0);
      if (seconds > 0) {
        limitWaiting(waiting, ctx);
        reservations.release(); // A request that waits does not count as one in progress.
      }
      const { events, next } = await services.events.read({
        after,
        limit,
        waitMs: seconds * 1000,
        signal: seconds > 0 ? waitSignal(ctx) : undefined,
      });
      sendJson(ctx, { events: events.map(toJson), next }, 'no-store');
    },
  };
}

/**
 * Counts a request that waits for an event until it ends. A request without credentials counts for its address only.
 *
 * @throws Problem `too-many-requests`
 */
function limitWaiting(waiting: KeyedSemaphore, ctx: Context): void {
  const caller = namedCaller(ctx);
  const slots = [slotOf('address', rateLimitKey(ctx.state.rostrum.address))];
  if (caller !== undefined) slots.push(slotOf('caller', caller.name));
  const full = slots.find((slot) => !waiting.isFree(slot));
  if (full !== undefined) {
    const { policy, capacity } = full;
    ctx.append('RateLimit-Policy', `"held-${policy}";q=${capacity};qu="concurrent-requests"`);
    ctx.append('RateLimit', `"held-${policy}";r=0`);
    const sentence = `At most ${capacity} requests per ${policy} can wait for events at the same time.`;
    const headers = { 'Retry-After': String(retryAfter) };
    throw new Problem('too-many-requests', sentence, { headers });
  }
  for (const slot of slots) ctx.res.once('close', waiting.take(slot));
}

function slotOf(policy: 'address' | 'caller', name: string) {
  return { policy, key: `${policy} ${name}`, capacity: maxWaiting[policy] };
}

/** Aborted when the client disconnects or half-closes its connection, and when the server stops. */
function waitSignal({ req: { socket }, res }: Context): AbortSignal {
  const controller = new AbortController();
  const { [stopSignal]: stop } = socket as { readonly [stopSignal]?: AbortSignal };
  const end = () => controller.abort();
  socket.once('end', end);
  stop?.addEventListener('abort', end);
  res.once('close', () => {
    socket.off('end', end);
    stop?.removeEventListener('abort', end);
    end();
  });
  if (res.destroyed || socket.readableEnded || stop?.aborted) end();
  return controller.signal;
}

function toJson({ type, collection, id, version }: RecordEvent): object {
  return { type: `${collection === 'users' ? 'user' : 'post'}.${type}`, id, version };
}
