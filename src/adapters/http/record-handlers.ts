import type { EntityFilter, Page } from '../../domain/list.ts';
import type { ListRequest } from '../../domain/list-request.ts';
import type { Precondition } from '../../domain/precondition.ts';
import type { Entity, Version, Versioned } from '../../domain/record.ts';
import type { CreateOptions } from '../../domain/services/record-service.ts';
import type { Rostrum } from '../../domain/services/rostrum.ts';
import type { Creation } from '../../ports/repository.ts';
import type { Answer } from './answer.ts';
import type { ApiRequest } from './endpoint.ts';
import { entityTag } from './etag.ts';
import { parseIdempotencyKey } from './idempotency.ts';
import { isNotModified, preconditionOf } from './preconditions.ts';
import { inPreferredForm } from './prefer.ts';

/** What users and posts have in common in the core. */
export interface Service<R extends Entity, Filter extends EntityFilter, Sort extends string> {
  create(input: object, options?: CreateOptions): Promise<Creation<R>>;
  get(id: string): Promise<Versioned<R>>;
  list(request: ListRequest<Filter, Sort>): Promise<Page<R>>;
  replace(id: string, input: object, precondition?: Precondition): Promise<Versioned<R>>;
  patch(id: string, patch: object, precondition?: Precondition): Promise<Versioned<R>>;
}

/** A kind of record as the API shows it. */
export interface Resource<R extends Entity, Filter extends EntityFilter, Sort extends string> {
  /** The path of the list, and the name of its member. */
  readonly path: string;
  readonly plural: string;
  service(rostrum: Rostrum): Service<R, Filter, Sort>;
}

export type Handler = (request: ApiRequest) => Promise<Answer>;

/** The handlers of one record that users and posts have in common. */
export function recordHandlers<R extends Entity, Filter extends EntityFilter, Sort extends string>({
  path,
  service,
}: Resource<R, Filter, Sort>): Record<'create' | 'get' | 'replace' | 'patch', Handler> {
  return {
    async create(request) {
      const { rostrum, body, base } = request;
      const stored = await service(rostrum).create(body.value, idempotency(request));
      const { replayed } = stored;
      return written(request, 201, stored, {
        Location: `${base}${path}/${encodeURIComponent(stored.record.id)}`,
        ...(replayed && { 'Idempotency-Replayed': 'true' }),
      });
    },

    async get({ rostrum, id, headers }) {
      const { version, json } = await service(rostrum).get(id);
      const answer = { status: 200, headers: recordHeaders(version) };
      return isNotModified(headers, version)
        ? { ...answer, status: 304 }
        : { ...answer, body: json };
    },

    async replace(request) {
      const { rostrum, id, body } = request;
      const stored = await service(rostrum).replace(id, body.value, changeAt(request));
      return written(request, 200, stored);
    },

    async patch(request) {
      const { rostrum, id, body } = request;
      const stored = await service(rostrum).patch(id, body.value, changeAt(request));
      return written(request, 200, stored);
    },
  };
}

/** The precondition of a change. */
export function changeAt({ headers, requireIfMatch }: ApiRequest): Precondition {
  return preconditionOf(headers, requireIfMatch);
}

/** The answer to a deletion. */
export function deleted({ headers }: ApiRequest): Answer {
  const body = JSON.stringify({ deleted: true });
  return inPreferredForm(headers.prefer, { status: 200, headers: uncached, body });
}

/** Kept by a client or a proxy only to ask whether it still holds. */
const uncached = { 'Cache-Control': 'no-cache' };

function written<R extends Entity>(
  { headers }: ApiRequest,
  status: number,
  stored: Versioned<R>,
  more: Readonly<Record<string, string>> = {},
): Answer {
  return inPreferredForm(headers.prefer, {
    status,
    headers: { ...recordHeaders(stored.version), ...more },
    body: stored.json,
  });
}

function recordHeaders(version: Version): Readonly<Record<string, string>> {
  return { ETag: entityTag(version), ...uncached };
}

function idempotency({ headers, caller }: ApiRequest): CreateOptions {
  const header = headers['idempotency-key'];
  const key = typeof header === 'string' ? parseIdempotencyKey(header) : undefined;
  return key === undefined ? {} : { idempotencyKey: key, caller };
}
