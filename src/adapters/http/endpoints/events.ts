import { eventLimits } from '../../../domain/services/event-service.ts';
import type { RecordEvent } from '../../../ports/event-log.ts';
import { waitSignal } from '../context.ts';
import { integer } from '../validate.ts';
import type { Endpoint } from './endpoint.ts';

/** How many seconds a request can wait. */
const maxWait = eventLimits.waitMs / 1000;

/** The changes of all records, in one order. */
export const eventsEndpoint: Endpoint = {
  method: 'GET',
  path: '/events',
  operation: 'listEvents',
  summary: 'List the changes of records',
  description:
    'To begin, read without "after", list all records, then read on from "next". A caller sees the changes of users or posts if it can read all of them.',
  scopes: ['users:read', 'posts:read:all', 'posts:write'],
  query: [
    {
      name: 'after',
      description: 'The "next" of the page before. If absent, the page is empty and at the end.',
      schema: { type: 'string', maxLength: 512 },
      example: '4711.8211',
    },
    {
      name: 'limit',
      description: 'How many events the page has at most.',
      ...integer(1, eventLimits.max, eventLimits.default),
    },
    {
      name: 'wait',
      description: 'For how many seconds an empty page waits for an event.',
      ...integer(0, maxWait, 0),
    },
  ],
  headers: [],
  responses: { 200: { description: 'A page of events.', schema: 'EventPage' } },
  problems: ['events-expired', 'events-unavailable'],
  async handle(ctx) {
    const { query, services, admission } = ctx.state.rostrum;
    const [after] = query.get('after') ?? [];
    const limit = Number(query.get('limit')?.[0] ?? eventLimits.default);
    const seconds = ctx.method === 'HEAD' ? 0 : Number(query.get('wait')?.[0] ?? 0);
    if (seconds > 0) admission.end(); // A request that waits does not count as one under way.
    const { events, next } = await services.events.read({
      ...{ after, limit, waitMs: seconds * 1000 },
      signal: seconds > 0 ? waitSignal(ctx) : undefined,
    });
    ctx.status = 200;
    ctx.set({ 'Cache-Control': 'no-store', 'Content-Type': 'application/json' });
    ctx.body = `${JSON.stringify({ events: events.map(described), next })}\n`;
  },
};

function described({ type, collection, id, version }: RecordEvent): object {
  return { type: `${collection === 'users' ? 'user' : 'post'}.${type}`, id, version };
}
