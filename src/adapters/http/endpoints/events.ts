import { eventLimits } from '../../../domain/services/event-service.ts';
import type { EventPage, RecordEvent } from '../../../ports/event-log.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Exchange } from '../exchange.ts';
import { integer } from '../request/parameter-values.ts';
import { json } from '../response.ts';

/** Seconds that a request may wait. */
const maxWait = eventLimits.waitMs / 1000;

/** The pages of requests that have waited for them. */
const waited = new WeakMap<Exchange, EventPage>();

/** The changes of all records, in one order. */
export const eventsEndpoint: Endpoint = {
  method: 'GET',
  path: '/events',
  operation: 'listEvents',
  summary: 'The changes of records behind a position',
  description:
    'To begin, read without "after", list all records, then read on from "next". A caller is told of the users or posts that it may read whole.',
  scopes: ['users:read', 'posts:read:all', 'posts:write'],
  query: [
    {
      name: 'after',
      description: 'The "next" of the page before. When absent, the page is empty and at the end.',
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
      description: 'For how many seconds the response may wait for an event.',
      ...integer(0, maxWait, 0),
    },
  ],
  headers: [],
  responses: { 200: { description: 'A page.', schema: 'EventPage' } },
  problems: ['events-expired', 'events-unavailable'],
  async wait(exchange) {
    const seconds = Number(exchange.query.get('wait')?.[0] ?? 0);
    if (seconds === 0 || exchange.req.method === 'HEAD') return;
    waited.set(exchange, await readEvents(exchange, seconds * 1000));
  },
  async handle(exchange) {
    const { events, next } = waited.get(exchange) ?? (await readEvents(exchange, 0));
    const body = JSON.stringify({ events: events.map(described), next });
    return json(200, body, ['Cache-Control', 'no-store']);
  },
};

function readEvents({ query, rostrum, ended }: Exchange, waitMs: number): Promise<EventPage> {
  const limit = Number(query.get('limit')?.[0] ?? eventLimits.default);
  return rostrum.events.read({ after: query.get('after')?.[0], limit, waitMs, signal: ended });
}

function described({ type, collection, id, version }: RecordEvent): object {
  return { type: `${collection === 'users' ? 'user' : 'post'}.${type}`, id, version };
}
