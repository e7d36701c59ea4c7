import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningServer } from '../adapters/http/index.ts';
import { closeContainer, createContainer, tokens } from '../adapters/inversify/index.ts';
import { readSchemaFiles } from '../adapters/json-schema/index.ts';
import type { Metrics } from '../adapters/metrics/index.ts';
import { unsafeOrigin } from '../domain/access/access.ts';
import { scopes } from '../domain/access/caller.ts';
import { isLoopback } from '../domain/access/hosts.ts';
import type { Logger } from '../ports/logger.ts';
import type { Store } from '../ports/store.ts';
import type { Settings } from '../settings/settings.ts';
import { parseStoreUrl, redactStoreUrl } from '../settings/store-url.ts';
import { explainOpening, Failure, refusalOf, type StoreSetting } from './failure.ts';
import { print } from './output.ts';
import { rejectUnfinishedCopy } from './with-store.ts';

/** Milliseconds between two checks whether a store is ready. */
const readyPollMs = 250;

/**
 * Milliseconds in which a second signal counts as the same one: `npm` forwards a Ctrl+C that the terminal
 * has sent to both already.
 */
const sameSignalMs = 500;

/** Returns the flag or variable that a setting comes from. */
export type FlagOrVariableOf = (setting: keyof Settings) => string;

/** Serves until SIGTERM or SIGINT, then finishes the requests under way. */
export async function serveCommand(
  settings: Settings,
  flagOrVariableOf: FlagOrVariableOf,
): Promise<void> {
  checkExposure(settings, flagOrVariableOf);
  const container = createContainer(settings);
  try {
    // Parts that can be rejected come first: a store that is still being opened would not be closed.
    await container.getAsync(tokens.customFields);
    await container.getAsync(tokens.authenticate);
    const metrics = await container.getAsync(tokens.metrics);
    await container.getAsync(tokens.trace);
    const { host, port, publicUrl, cors } = settings;
    const newFileNote = newFileNoteFor(settings.store);
    const logger = await container.getAsync(tokens.logger);
    if (parseStoreUrl(settings.store).kind === 'mongodb') {
      // Connect while the HTTP adapter is loaded. Errors are reported below.
      container.getAsync(tokens.store).catch(() => {});
    }
    const { createWaitingApp, serve } = await import('../adapters/http/index.ts');
    if (scopes.every((scope) => settings.anonymous?.includes(scope))) {
      const warning = 'Clients without credentials are allowed to do everything (--anonymous all).';
      logger.warn({}, warning);
    }
    const servers: RunningServer[] = [];
    const stop = new AbortController();
    stopOnSignal(stop);
    const { signal } = stop;
    try {
      if (metrics !== undefined) {
        servers.push(await serveMetrics(metrics, settings, flagOrVariableOf, logger));
      }
      // The server listens before the store is opened, so that a failed start creates no data file.
      const options = { host, port, publicUrl, logger, metrics };
      const server = await serve(createWaitingApp({ logger, publicUrl, cors, metrics }), options);
      servers.unshift(server);
      metrics?.connections(() => server.connections);
      const opened = await container.getAsync(tokens.store);
      const named = { setting: flagOrVariableOf('store'), url: settings.store };
      const isOpen = await isReady(opened, named, logger, signal);
      // Only an open store knows all declared fields of its database.
      await readSchemaFiles({ ...settings, declaredFields: opened.declaredFields });
      server.replaceApp(await container.getAsync(tokens.app));
      if (isOpen) {
        const store = redactStoreUrl(settings.store);
        const created = newFileNote !== '' && { created: true };
        logger.info({ url: server.url, store, ...created }, 'ready to serve');
        process.stdout.on('error', () => {}); // Keep serving if the disk is full or the pipe is closed.
        print(`Rostrum is ready at ${server.url} on ${store}${newFileNote}`);
      }
      if (!signal.aborted) await once(signal, 'abort');
      logger.info({}, 'shutting down: finishing the requests under way');
    } finally {
      for (const server of servers) await server.close();
    }
  } catch (error) {
    throw explainStart(error, settings, flagOrVariableOf);
  } finally {
    await closeContainer(container);
  }
}

/** Returns what the ready line says about a data file that doesn't exist yet: its path can be a typo. */
function newFileNoteFor(url: string): string {
  const store = parseStoreUrl(url);
  if (store.kind !== 'sqlite' || existsSync(store.path)) return '';
  const folder = dirname(store.path);
  return existsSync(folder) ? ' (new and empty)' : ` (new and empty, in the new folder ${folder})`;
}

/** Serves metrics on a separate port. */
async function serveMetrics(
  metrics: Metrics,
  settings: Settings,
  flagOrVariableOf: FlagOrVariableOf,
  logger: Logger,
): Promise<RunningServer> {
  const { metricsHost: host, metricsPort: port } = settings;
  const { createMetricsApp, serve } = await import('../adapters/http/index.ts');
  const exposition = () => metrics.exposition();
  const app = createMetricsApp(exposition, logger, isLoopback(host) ? isLoopback : undefined);
  try {
    const server = await serve(app, { host, port, logger, limits: { maxConnections: 100 } });
    logger.info({ url: `${server.url}/metrics` }, 'metrics are served');
    return server;
  } catch (error) {
    throw (
      explainListening(error, settings, flagOrVariableOf, 'metricsHost', 'metricsPort') ?? error
    );
  }
}

/** Stops gracefully at the first signal. At the next one, Node exits at once. */
function stopOnSignal(stop: AbortController): void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'];
  const begin = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    const leave = () => {
      for (const signal of signals) process.off(signal, begin);
    };
    setTimeout(leave, sameSignalMs).unref();
  };
  for (const signal of signals) process.on(signal, begin);
}

/**
 * Rejects a host that other machines can reach, unless credentials or `--anonymous` are set, and origins with
 * `*`, unless requests without credentials can only read.
 *
 * @throws Failure
 */
function checkExposure(
  { host, cors, ...settings }: Settings,
  flagOrVariableOf: FlagOrVariableOf,
): void {
  const { anonymous, authKeys, authIssuer } = settings;
  const unsafe = unsafeOrigin(cors, anonymous, (authKeys ?? authIssuer) !== undefined);
  if (unsafe !== undefined) {
    throw new Failure(
      `${flagOrVariableOf('cors')} is "${unsafe}": any web page could do what requests without credentials can do. ` +
        'Set --auth-keys, or allow only --anonymous posts:read,users:read:public.',
    );
  }
  const isSecured = [anonymous, authKeys, authIssuer].some((setting) => setting !== undefined);
  if (isLoopback(host) || isSecured) return;
  throw new Failure(
    `${flagOrVariableOf('host')} is "${host}", which other machines can reach, and the server requires no ` +
      'credentials: set --auth-keys or --auth-issuer, or allow requests without credentials, ' +
      'with --anonymous posts:read or --anonymous all.',
  );
}

/**
 * Waits for the store, while the server responds with 503.
 *
 * @returns false after a signal
 * @throws Failure for the target of an unfinished copy, or the store's own error if waiting does not help
 */
async function isReady(
  store: Store,
  named: StoreSetting,
  logger: Logger,
  signal: AbortSignal,
): Promise<boolean> {
  for (let tried = 0; !signal.aborted; tried++) {
    try {
      await store.ready();
      await rejectUnfinishedCopy(store, named);
      return true;
    } catch (err) {
      if (err instanceof Failure || refusalOf(err) !== undefined) throw err;
      // The MongoDB store logs its own messages.
      if (tried === 0 && !named.url.startsWith('mongodb')) {
        logger.warn({ err }, 'The store is not ready. Requests get 503 until it is.');
      }
      await sleep(readyPollMs, undefined, { signal }).catch(() => {});
    }
  }
  return false;
}

/** Explains an error at the start by the setting at fault. */
export function explainStart(
  error: unknown,
  settings: Settings,
  flagOrVariableOf: FlagOrVariableOf,
): unknown {
  const named = { setting: flagOrVariableOf('store'), url: settings.store };
  const explained = explainListening(error, settings, flagOrVariableOf, 'host', 'port');
  return explained ?? explainOpening(error, named);
}

/** Explains an error of listening. Returns undefined for other errors. */
function explainListening(
  error: unknown,
  settings: Settings,
  flagOrVariableOf: FlagOrVariableOf,
  host: 'host' | 'metricsHost',
  port: 'port' | 'metricsPort',
): Failure | undefined {
  const isListening = error instanceof Error && /^(?:listen|getaddrinfo) /.test(error.message);
  if (!isListening) return undefined;
  const address = `${flagOrVariableOf(host)} is "${settings[host]}"`;
  const given = `${address} and ${flagOrVariableOf(port)} is ${settings[port]}`;
  return new Failure(`${given}, but the server cannot listen there: ${error.message}.`);
}
