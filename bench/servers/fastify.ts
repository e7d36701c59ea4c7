import Fastify, { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { destination, pino } from 'pino';
import type { BareStore } from './bare-store.ts';
import { newPost, pageOf } from './store.ts';

/** Logs one line per request with the same fields as Rostrum, instead of Fastify's two lines. */
class AccessLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(error: unknown, { method, url }: FastifyRequest, reply: FastifyReply) {
    const [path] = url.split('?', 1);
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const fields = { method, path, status: reply.statusCode, ms };
    if (error) reply.log.error({ ...fields, err: error }, 'request');
    else reply.log.info(fields, 'request');
  }
}

/** Serves with Fastify and an access log that is buffered up to 4 KiB. Returns the port. */
export async function fastify(store: BareStore): Promise<number> {
  const file = destination({ fd: 2, sync: false, minLength: 4096 });
  const app = Fastify({
    loggerInstance: pino({ base: null }, file),
    logController: new AccessLog({ requestIdLogLabel: 'requestId' }),
  });

  app.get<{ Params: { id: string } }>('/api/v1/posts/:id', async ({ params }, reply) => {
    const json = await store.get(params.id);
    reply.status(json === undefined ? 404 : 200).type('application/json');
    return json ?? '{}';
  });
  app.get<{ Querystring: { limit: string } }>('/api/v1/posts', async ({ query }, reply) => {
    reply.type('application/json');
    return await pageOf(store, Number(query.limit));
  });
  app.post<{ Body: { readonly title: string } }>('/api/v1/posts', async ({ body }, reply) => {
    reply.status(201).type('application/json');
    return await store.add(newPost(body));
  });
  return Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
}
