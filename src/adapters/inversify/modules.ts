import { ContainerModule } from 'inversify';
import type { CustomFieldsSchema } from '../../domain/fields/custom-fields.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import { assembleRostrum } from '../../domain/services/rostrum.ts';
import { declaredFieldsOf } from '../../settings/settings.ts';
import { parseStoreUrl } from '../../settings/store-url.ts';
import type { Trace } from '../http/index.ts';
import { type JsonFieldsSchema, readSchemaFiles } from '../json-schema/index.ts';
import { systemClock, uuidV7 } from '../system/index.ts';
import { createAuthenticate, createRateLimits, ownHosts } from './access.ts';
import { tokens } from './tokens.ts';

/** The key under which the OpenTelemetry API (1.x) stores what was registered. */
const openTelemetry = Symbol.for('opentelemetry.js.api.1');

/** Returns OpenTelemetry's middleware if a provider was registered before the start (`node --import`). */
async function createTrace(): Promise<Trace | undefined> {
  const registered: unknown = Reflect.get(globalThis, openTelemetry);
  const hasProvider =
    typeof registered === 'object' && registered !== null && 'trace' in registered;
  return hasProvider
    ? (await import('../http/operator/opentelemetry.ts')).openTelemetry
    : undefined;
}

/** Binds what the machine provides: time, ids, a log, metrics. */
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
  bind(tokens.metrics)
    .toResolvedValue(
      async ({ metricsPort }) => {
        if (metricsPort === undefined) return undefined;
        const { Metrics } = await import('../metrics/index.ts');
        return new Metrics();
      },
      [tokens.settings],
    )
    .inSingletonScope();
  bind(tokens.trace).toResolvedValue(createTrace, []).inSingletonScope();
});

/** Binds the store and the core. */
export const coreModule = new ContainerModule(({ bind }) => {
  bind(tokens.customFields)
    .toResolvedValue(
      (settings) =>
        readSchemaFiles({ ...settings, declaredFields: declaredFieldsOf(settings.field) }),
      [tokens.settings],
    )
    .inSingletonScope();
  bind(tokens.around).toConstantValue(undefined);
  bind(tokens.rules).toConstantValue(undefined);
  bind(tokens.rostrum)
    .toResolvedValue(
      (opened, clock, ids, customFields, metrics, around, rules, { publicUserFields }) => {
        const store = metrics === undefined ? opened : metrics.measured(opened);
        const parts = { store, clock, ids, customFields, publicUserFields, around, rules };
        return assembleRostrum(parts);
      },
      [
        ...([tokens.store, tokens.clock, tokens.ids, tokens.customFields] as const),
        ...([tokens.metrics, tokens.around, tokens.rules, tokens.settings] as const),
      ],
    )
    .inSingletonScope();
});

/** The source of a schema that was read from a file. */
function jsonSchemaOf(schema: CustomFieldsSchema | undefined): JsonObject | undefined {
  return schema && 'jsonSchema' in schema ? (schema as JsonFieldsSchema).jsonSchema : undefined;
}

/** Binds credentials and limits. */
export const accessModule = new ContainerModule(({ bind }) => {
  bind(tokens.authenticate)
    .toResolvedValue(createAuthenticate, [tokens.settings, tokens.logger])
    .inSingletonScope();
  bind(tokens.rateLimits)
    .toResolvedValue(createRateLimits, [tokens.settings, tokens.authenticate])
    .inSingletonScope();
});

/** Display names of the stores. */
const storeNames = { memory: 'in memory', sqlite: 'on SQLite', mongodb: 'on MongoDB' } as const;

/** Binds the HTTP adapter. */
export const httpModule = new ContainerModule(({ bind }) => {
  bind(tokens.appOptions)
    .toResolvedValue(
      (store, logger, settings, customFields, authenticate, rateLimits, metrics, trace) => {
        const { requireIfMatch, cors, publicUrl, authIssuer: issuer, trustProxy } = settings;
        const { anonymous, pages } = settings;
        const { kind } = parseStoreUrl(settings.store);
        return {
          ready: () => store.ready(),
          logger,
          requireIfMatch,
          cors,
          publicUrl,
          issuer,
          metrics,
          trace,
          authenticate,
          anonymous,
          rateLimits,
          trustedProxies: trustProxy,
          pages,
          about: { store: storeNames[kind] },
          isOwnHost: authenticate && !anonymous ? undefined : ownHosts(settings),
          customFields: {
            users: jsonSchemaOf(customFields.users),
            posts: jsonSchemaOf(customFields.posts),
          },
        };
      },
      [
        ...([tokens.store, tokens.logger, tokens.settings, tokens.customFields] as const),
        ...([tokens.authenticate, tokens.rateLimits, tokens.metrics, tokens.trace] as const),
      ],
    )
    .inSingletonScope();
  bind(tokens.app)
    .toResolvedValue(
      async (rostrum, options, { mcp, mcpDeletes: deletes }) => {
        const { createApp } = await import('../http/index.ts');
        if (!mcp) return createApp(rostrum, options);
        const { createMcpHandler } = await import('../mcp/index.ts');
        const { customFields, logger } = options;
        const handler = createMcpHandler(rostrum, { customFields, deletes, logger });
        return createApp(rostrum, { ...options, mcp: handler });
      },
      [tokens.rostrum, tokens.appOptions, tokens.settings],
    )
    .inSingletonScope();
});
