import { ContainerModule } from 'inversify';
import { assembleRostrum } from '../../domain/services/rostrum.ts';
import { openStore } from '../../settings/open-store.ts';
import { ownFiltersOf } from '../../settings/settings.ts';
import { readSchemaFiles } from '../json-schema/index.ts';
import { systemClock } from '../system/clock.ts';
import { uuidV7 } from '../system/uuid-v7.ts';
import { createAuthenticate, createRateLimits, ownHosts } from './access.ts';
import { tokens } from './tokens.ts';

/** What the machine provides: time, ids, a log. */
export const systemModule = new ContainerModule(({ bind }) => {
  bind(tokens.clock).toConstantValue(systemClock);
  bind(tokens.ids).toConstantValue(uuidV7);
  bind(tokens.logger)
    .toResolvedValue(
      async ({ logLevel }) => {
        const { createLogger } = await import('../system/logger.ts');
        return createLogger(logLevel);
      },
      [tokens.settings],
    )
    .inSingletonScope();
});

/** The store that the settings name, and the core on it. */
export const coreModule = new ContainerModule(({ bind }) => {
  bind(tokens.store)
    .toResolvedValue(
      ({ store, index }, logger) => openStore(store, logger, { ownFilters: ownFiltersOf(index) }),
      [tokens.settings, tokens.logger],
    )
    .inSingletonScope();
  bind(tokens.ownFields).toResolvedValue(readSchemaFiles, [tokens.settings]).inSingletonScope();
  bind(tokens.rostrum)
    .toResolvedValue(
      (store, clock, ids, ownFields, { index }) =>
        assembleRostrum({ store, clock, ids, ownFields, ownFilters: ownFiltersOf(index) }),
      [tokens.store, tokens.clock, tokens.ids, tokens.ownFields, tokens.settings],
    )
    .inSingletonScope();
});

/** Who may ask, and how much. */
export const accessModule = new ContainerModule(({ bind }) => {
  bind(tokens.authenticate)
    .toResolvedValue(createAuthenticate, [tokens.settings, tokens.logger])
    .inSingletonScope();
  bind(tokens.rateLimits)
    .toResolvedValue(createRateLimits, [tokens.settings, tokens.authenticate])
    .inSingletonScope();
});

/** The HTTP adapter on the core. */
export const httpModule = new ContainerModule(({ bind }) => {
  bind(tokens.app)
    .toResolvedValue(
      async (rostrum, store, logger, settings, authenticate, rateLimits) => {
        const { createApp } = await import('../http/index.ts');
        const { requireIfMatch, cors, publicUrl, authIssuer: issuer, trustProxy } = settings;
        return createApp(rostrum, {
          ...{ ready: () => store.ready(), logger, requireIfMatch, cors, publicUrl, issuer },
          ...{ authenticate, rateLimits, trustedProxies: trustProxy },
          isOwnHost: authenticate === undefined ? ownHosts(settings) : undefined,
        });
      },
      [
        ...([tokens.rostrum, tokens.store, tokens.logger, tokens.settings] as const),
        ...([tokens.authenticate, tokens.rateLimits] as const),
      ],
    )
    .inSingletonScope();
});
