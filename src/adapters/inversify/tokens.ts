import type { Newable } from 'inversify';
import type { CustomFieldsInput } from '../../domain/fields/custom-fields.ts';
import type { HostRules } from '../../domain/records/host-rules.ts';
import type { JsonObject } from '../../domain/records/json.ts';
import type {
  Around,
  CustomFieldsSchemas,
  Rostrum,
  TypedSchemas,
} from '../../domain/services/rostrum.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdGenerator } from '../../ports/id-generator.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Store } from '../../ports/store.ts';
import type { Settings } from '../../settings/settings.ts';
import type {
  Authenticate,
  createApp,
  RateLimits,
  RostrumAppOptions,
  Trace,
} from '../http/index.ts';
import type { Metrics } from '../metrics/index.ts';

/** Carries the type of its part: binding or requesting another type is a compile error, and so is a string. */
export type Token<T> = symbol | Newable<T>;

function token<T>(name: string): Token<T> {
  return Symbol.for(`rostrum.${name}`);
}

/** Every part of the container. An override can replace each of them. */
export const tokens = {
  settings: token<Settings>('settings'),
  clock: token<Clock>('clock'),
  ids: token<IdGenerator>('ids'),
  logger: token<Logger>('logger'),
  /** Undefined if no metrics port is set. */
  metrics: token<Metrics | undefined>('metrics'),
  /** Undefined if no span provider was registered. */
  trace: token<Trace | undefined>('trace'),
  store: token<Store>('store'),
  /** Schemas for a deployment's custom fields: those of the settings. */
  customFields: token<CustomFieldsSchemas>('custom-fields'),
  /** Wraps the services, for every caller; undefined if nothing wraps them. */
  around: token<Around | undefined>('around'),
  rules: token<HostRules | undefined>('rules'),
  /** Identifies the caller of a request; undefined if no credentials are required. */
  authenticate: token<Authenticate | undefined>('authenticate'),
  rateLimits: token<RateLimits>('rate-limits'),
  rostrum: token<Rostrum>('rostrum'),
  /** The options of the app and its description. */
  appOptions: token<RostrumAppOptions>('app-options'),
  app: token<ReturnType<typeof createApp>>('app'),
};

/**
 * {@link tokens}.rostrum with the types of custom fields that these schemas have. They are the ones that
 * `tokens.customFields` is overridden with, or say the same as the settings' files.
 */
export function rostrumToken<
  UO extends object = JsonObject,
  UI extends object = CustomFieldsInput,
  PO extends object = JsonObject,
  PI extends object = CustomFieldsInput,
>(_schemas: TypedSchemas<UO, UI, PO, PI>): Token<Rostrum<UO, UI, PO, PI>> {
  return tokens.rostrum as Token<unknown> as Token<Rostrum<UO, UI, PO, PI>>;
}
