import { ContainerModule } from 'inversify';
import { assembleRostrum } from '../../domain/services/rostrum.ts';
import { openStore } from '../../settings/open-store.ts';
import { systemClock } from '../system/clock.ts';
import { uuidV7 } from '../system/uuid-v7.ts';
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
      (settings, logger) => openStore(settings.store, logger),
      [tokens.settings, tokens.logger],
    )
    .inSingletonScope();
  bind(tokens.ownFields).toConstantValue({});
  bind(tokens.rostrum)
    .toResolvedValue(
      (store, clock, ids, ownFields) => assembleRostrum({ store, clock, ids, ownFields }),
      [tokens.store, tokens.clock, tokens.ids, tokens.ownFields],
    )
    .inSingletonScope();
});

/** The HTTP adapter on the core. */
export const httpModule = new ContainerModule(({ bind }) => {
  bind(tokens.app)
    .toResolvedValue(
      async (rostrum, store, logger, { requireIfMatch }) => {
        const { createApp } = await import('../http/index.ts');
        return createApp(rostrum, { ready: () => store.ready(), logger, requireIfMatch });
      },
      [tokens.rostrum, tokens.store, tokens.logger, tokens.settings],
    )
    .inSingletonScope();
});
