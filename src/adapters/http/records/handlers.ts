import { readsWhole } from '../../../domain/access.ts';
import type { PostInput } from '../../../domain/post.ts';
import type { Collection, Version, Versioned } from '../../../domain/record.ts';
import type { CreateOptions } from '../../../domain/services/record-service.ts';
import { deleteModes } from '../../../domain/services/user-service.ts';
import type { UserInput } from '../../../domain/user.ts';
import type { Api, Handler } from '../endpoint.ts';
import type { Exchange } from '../exchange.ts';
import { entityTag, type View } from '../headers/etag.ts';
import { json, type Response, revalidated } from '../response.ts';
import { parseIdempotencyKey } from './idempotency.ts';
import { isNotModified, preconditionOf } from './preconditions.ts';
import { inPreferredForm } from './prefer.ts';

/** The handlers of single users. */
export const userHandlers = {
  ...recordHandlers('users'),
  get: getUser,
  save: saveItself,
  remove: removeUser,
};

/** The handlers of single posts. */
export const postHandlers = { ...recordHandlers('posts'), remove: removePost };

function recordHandlers(
  collection: Collection,
): Record<'create' | 'get' | 'replace' | 'patch', Handler> {
  return {
    async create(exchange, { audit }) {
      const { base, body, rostrum } = exchange;
      const stored = await rostrum[collection].create(
        body as UserInput & PostInput,
        idempotencyOf(exchange),
      );
      const { id } = stored.record;
      if (!stored.replayed) audit(exchange, { collection, id, version: stored.version });
      const location = `${base}/${collection}/${encodeURIComponent(id)}`;
      const replayed = stored.replayed ? ['Idempotency-Replayed', 'true'] : [];
      const headers = ['Location', location, ...replayed];
      return written(exchange, 201, stored, headers);
    },

    async get(exchange) {
      return read(exchange, await exchange.rostrum[collection].get(exchange.id));
    },

    replace: change('replace'),
    patch: change('patch'),
  };

  function change(way: 'replace' | 'patch'): Handler {
    return async (exchange, { requireIfMatch, audit }) => {
      const { id, body, headers, rostrum } = exchange;
      const precondition = preconditionOf(headers, requireIfMatch);
      const made = await rostrum[collection][way](id, body as UserInput & PostInput, precondition);
      if (made.changed) audit(exchange, { collection, id, version: made.version });
      return written(exchange, 200, made);
    };
  }
}

/** A user, as much of it as the caller may see. */
async function getUser(exchange: Exchange): Promise<Response> {
  const { id, caller, rostrum } = exchange;
  return readsWhole(caller, id)
    ? read(exchange, await rostrum.users.get(id))
    : read(exchange, await rostrum.users.getPublic(id), 'public');
}

async function saveItself(exchange: Exchange, { requireIfMatch, audit }: Api): Promise<Response> {
  const { base, body, headers, id, rostrum } = exchange;
  const precondition = preconditionOf(headers, requireIfMatch);
  const saved = await rostrum.users.saveItself(body as UserInput, precondition);
  if (saved.changed) audit(exchange, { collection: 'users', id, version: saved.version });
  if (!saved.created) return written(exchange, 200, saved);
  return written(exchange, 201, saved, ['Location', `${base}/users/${encodeURIComponent(id)}`]);
}

async function removeUser(exchange: Exchange, { requireIfMatch, audit }: Api): Promise<Response> {
  const { id, query, headers, rostrum } = exchange;
  const [mode] = query.get('posts') ?? [];
  const posts = deleteModes.find((one) => one === mode) ?? 'refuse';
  const options = { posts, ...preconditionOf(headers, requireIfMatch) };
  await rostrum.users.delete(id, options);
  audit(exchange, { collection: 'users', id, posts });
  return deleted(exchange);
}

async function removePost(exchange: Exchange, { requireIfMatch, audit }: Api): Promise<Response> {
  const { id, headers, rostrum } = exchange;
  const precondition = preconditionOf(headers, requireIfMatch);
  await rostrum.posts.delete(id, precondition);
  audit(exchange, { collection: 'posts', id });
  return deleted(exchange);
}

/** The response to a read. */
function read(
  { headers }: Exchange,
  { version, json: text }: Versioned<unknown>,
  view: View = 'whole',
): Response {
  return isNotModified(headers, version, view)
    ? { status: 304, headers: recordHeaders(version, view) }
    : json(200, text, recordHeaders(version, view));
}

/** The response to a deletion. */
function deleted({ headers }: Exchange): Response {
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

function recordHeaders(version: Version, view?: View): readonly string[] {
  return ['ETag', entityTag(version, view), ...revalidated];
}

function idempotencyOf({ headers }: Exchange): CreateOptions {
  const header = headers['idempotency-key'];
  const key = typeof header === 'string' ? parseIdempotencyKey(header) : undefined;
  return key === undefined ? {} : { idempotencyKey: key };
}
