import { deleteModes } from '../../../domain/services/user-service.ts';
import type { Handler } from '../endpoint.ts';
import { deleted, recordHandlers } from './handlers.ts';
import { preconditionOf } from './preconditions.ts';

const remove: Handler = async (exchange, { requireIfMatch, audit }) => {
  const { id, query, headers, rostrum } = exchange;
  const [mode] = query.get('posts') ?? [];
  const posts = deleteModes.find((one) => one === mode) ?? 'refuse';
  const options = { posts, ...preconditionOf(headers, requireIfMatch) };
  await rostrum.users.delete(id, options);
  audit(exchange, { collection: 'users', id, posts });
  return deleted(exchange);
};

export const userHandlers = {
  ...recordHandlers('users'),
  remove,
};
