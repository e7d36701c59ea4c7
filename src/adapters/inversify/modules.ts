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
  const hasProvider = 'trace' in Object(Reflect.get(globalThis, openTelemetry));
  return hasProvider
    ? (await import('../http/operator/opentelemetry.ts')).openTelemetry
    : undefined;
}

/** The source of a schema that was read from a file. */
function jsonSchemaOf(schema: CustomFieldsSchema | undefined): JsonObject | undefined {
  return schema && 'jsonSchema' in schema ? (schema as JsonFieldsSchema).jsonSchema : undefined;
}

/** Display names of the stores. */
const storeNames = { memory: 'in memory', sqlite: 'on SQLite', mongodb: 'on MongoDB' } as const;

/** Binds every part but the settings and the store. */
export const parts = new ContainerModule(({ bind }) => {
  bind(tokens.clock).toConstantValue(systemClock);
  bind(tokens.ids).toConstantValue(uuidV7);
  bind(tokens.logger).toResolvedValue(
    async ({ logLevel }) => (await import('../system/logger.ts')).createLogger(logLevel),
    [tokens.settings],
  );
  bind(tokens.metrics).toResolvedValue(
    async ({ metricsPort }) =>
      metricsPort === undefined ? undefined : new (await import('../metrics/index.ts')).Metrics(),
    [tokens.settings],
  );
  bind(tokens.trace).toResolvedValue(createTrace, []);
  bind(tokens.customFields).toResolvedValue(
    (settings) =>
      readSchemaFiles({ ...settings, declaredFields: declaredFieldsOf(settings.field) }),
    [tokens.settings],
  );
  bind(tokens.around).toConstantValue(undefined);
  bind(tokens.rules).toConstantValue(undefined);
  bind(tokens.rostrum).toResolvedValue(
    (opened, clock, ids, customFields, metrics, around, rules, { publicUserFields }) => {
      const store = metrics === undefined ? opened : metrics.measured(opened);
      const given = { store, clock, ids, customFields, publicUserFields, around, rules };
      return assembleRostrum(given);
    },
    [
      ...([tokens.store, tokens.clock, tokens.ids, tokens.customFields] as const),
      ...([tokens.metrics, tokens.around, tokens.rules, tokens.settings] as const),
    ],
  );
  bind(tokens.authenticate).toResolvedValue(createAuthenticate, [tokens.settings, tokens.logger]);
  bind(tokens.rateLimits).toResolvedValue(createRateLimits, [tokens.settings, tokens.authenticate]);
  bind(tokens.appOptions).toResolvedValue(
    (store, logger, settings, customFields, authenticate, rateLimits, metrics, trace) => {
      const { requireIfMatch, cors, publicUrl, anonymous, pages } = settings;
      return {
        ...{ logger, metrics, trace, authenticate, rateLimits },
        ...{ requireIfMatch, cors, publicUrl, anonymous, pages },
        ready: () => store.ready(),
        issuer: settings.authIssuer,
        trustedProxies: settings.trustProxy,
        about: { store: storeNames[parseStoreUrl(settings.store).kind] },
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
  );
  bind(tokens.app).toResolvedValue(
    async (rostrum, options, { mcp, mcpDeletes: deletes }) => {
      const { createApp } = await import('../http/index.ts');
      if (!mcp) return createApp(rostrum, options);
      const { createMcpHandler } = await import('../mcp/index.ts');
      const { customFields, logger } = options;
      const handler = createMcpHandler(rostrum, { customFields, deletes, logger });
      return createApp(rostrum, { ...options, mcp: handler });
    },
    [tokens.rostrum, tokens.appOptions, tokens.settings],
  );
});
