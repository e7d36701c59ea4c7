import { once } from 'node:events';
import { serve } from '../adapters/http/index.ts';
import {
  closeContainer,
  createContainer,
  redactStoreUrl,
  tokens,
} from '../adapters/inversify/index.ts';
import { options } from './options.ts';
import { type Environment, readOptions } from './read-options.ts';
import { explain } from './start-errors.ts';

/** Serves until a signal asks for the end, then lets what is under way finish. */
export async function serveCommand(args: readonly string[], env: Environment): Promise<void> {
  const settings = readOptions(options, args, env);
  const { host, port, store } = settings;
  const container = createContainer(settings);
  try {
    const app = await container.getAsync(tokens.app);
    const logger = await container.getAsync(tokens.logger);
    const server = await serve(app, { host, port, logger });
    const stop = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
    process.stdout.write(`Rostrum is ready at ${server.url} on ${redactStoreUrl(store)}\n`);
    await stop;
    logger.info({}, 'shutting down: finishing the requests under way');
    await server.close();
  } catch (error) {
    throw explain(error, settings);
  } finally {
    await closeContainer(container);
  }
}
