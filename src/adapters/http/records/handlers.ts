import type { Precondition } from '../../../domain/precondition.ts';
import type { Entity, Version, Versioned } from '../../../domain/record.ts';
import type { Change, CreateOptions } from '../../../domain/services/record-service.ts';
import type { Rostrum } from '../../../domain/services/rostrum.ts';
import type { Creation } from '../../../ports/repository.ts';
import type { Handler } from '../endpoint.ts';
import type { Exchange } from '../exchange.ts';
import { entityTag } from '../headers/etag.ts';
import { json, type Response, revalidated } from '../response.ts';
import { parseIdempotencyKey } from './idempotency.ts';
import { isNotModified, preconditionOf } from './preconditions.ts';
import { inPreferredForm } from './prefer.ts';

/** What the services of users and of posts have in common for single records. */
interface RecordCalls {
  create(input: object, options: CreateOptions): Promise<Creation<Entity>>;
  get(id: string): Promise<Versioned<unknown>>;
  replace(id: string, input: object, precondition: Precondition): Promise<Change<unknown>>;
  patch(id: string, patch: object, precondition: Precondition): Promise<Change<unknown>>;
}

/** The handlers of single records; `DELETE` is each collection's own. */
export function recordHandlers(
  collection: 'users' | 'posts',
  service: (rostrum: Rostrum) => RecordCalls,
): Record<'create' | 'get' | 'replace' | 'patch', Handler> {
  return {
    async create(exchange, { audit }) {
      const { base, body, rostrum } = exchange;
      const stored = await service(rostrum).create(body, idempotencyOf(exchange));
      const { id } = stored.record;
      if (!stored.replayed) audit(exchange, { collection, id, version: stored.version });
      const location = `${base}/${collection}/${encodeURIComponent(id)}`;
      const replayed = stored.replayed ? ['Idempotency-Replayed', 'true'] : [];
      const headers = ['Location', location, ...replayed];
      return written(exchange, 201, stored, headers);
    },

    async get({ id, headers, rostrum }) {
      const { version, json: text } = await service(rostrum).get(id);
      return isNotModified(headers, version)
        ? { status: 304, headers: recordHeaders(version) }
        : json(200, text, recordHeaders(version));
    },

    replace: change('replace'),
    patch: change('patch'),
  };

  function change(way: 'replace' | 'patch'): Handler {
    return async (exchange, { requireIfMatch, audit }) => {
      const { id, body, headers, rostrum } = exchange;
      const made = await service(rostrum)[way](id, body, preconditionOf(headers, requireIfMatch));
      if (made.changed) audit(exchange, { collection, id, version: made.version });
      return written(exchange, 200, made);
    };
  }
}

/** The response to a deletion. */
export function deleted({ headers }: Exchange): Response {
  const response = json(200, JSON.stringify({ deleted: true }), revalidated);
  return inPreferredForm(headers.prefer, response);
}

function written(
  { headers }: Exchange,
  status: number,
  { version, json: text }: Versioned<unknown>,
  more: readonly string[] = [],
): Response {
  const response = json(status, text, [...recordHeaders(version), ...more]);
  return inPreferredForm(headers.prefer, response);
}

function recordHeaders(version: Version): readonly string[] {
  return ['ETag', entityTag(version), ...revalidated];
}

function idempotencyOf({ headers }: Exchange): CreateOptions {
  const header = headers['idempotency-key'];
  const key = typeof header === 'string' ? parseIdempotencyKey(header) : undefined;
  return key === undefined ? {} : { idempotencyKey: key };
}
