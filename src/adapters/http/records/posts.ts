import type { Handler } from '../endpoint.ts';
import { deleted, recordHandlers } from './handlers.ts';
import { preconditionOf } from './preconditions.ts';

const remove: Handler = async (exchange, { requireIfMatch, audit }) => {
  const { id, headers, rostrum } = exchange;
  const precondition = preconditionOf(headers, requireIfMatch);
  await rostrum.posts.delete(id, precondition);
  audit(exchange, { collection: 'posts', id });
  return deleted(exchange);
};

export const postHandlers = {
  ...recordHandlers('posts'),
  remove,
};
