import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '../adapters/http/index.ts';
import {
  closeContainer,
  createContainer,
  redactStoreUrl,
  tokens,
} from '../adapters/inversify/index.ts';
import type { Logger } from '../ports/logger.ts';
import type { Store } from '../ports/store.ts';
import { options } from './options.ts';
import { type Environment, readOptions } from './read-options.ts';
import { explain } from './start-errors.ts';

/** How often a store that is not ready at the start is asked again. */
const askAgainMs = 250;

/** Serves until a signal asks for the end, then lets what is under way finish. */
export async function serveCommand(args: readonly string[], env: Environment): Promise<void> {
  const given = readOptions(options, args, env);
  const { host, port, store } = given.values;
  const container = createContainer(given.values);
  try {
    const app = await container.getAsync(tokens.app);
    const logger = await container.getAsync(tokens.logger);
    const server = await serve(app, { host, port, logger });
    const stop = new AbortController();
    for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stop.abort());
    const { signal } = stop;
    if (await isReady(await container.getAsync(tokens.store), logger, signal)) {
      process.stdout.write(`Rostrum is ready at ${server.url} on ${redactStoreUrl(store)}\n`);
    }
    if (!signal.aborted) await once(signal, 'abort');
    logger.info({}, 'shutting down: finishing the requests under way');
    await server.close();
  } catch (error) {
    throw explain(error, given);
  } finally {
    await closeContainer(container);
  }
}

/** Waits for the store, while the server answers 503. @returns false when it is not waited for */
async function isReady(store: Store, logger: Logger, signal: AbortSignal): Promise<boolean> {
  for (let asked = 0; !signal.aborted; asked++) {
    try {
      await store.ready();
      return true;
    } catch (err) {
      if (asked === 0) logger.warn({ err }, 'the store is not ready: answering 503 until it is');
      await sleep(askAgainMs);
    }
  }
  return false;
}
