/** The public core: what a service that embeds Rostrum imports. */
import { systemClock } from './adapters/system/clock.ts';
import { uuidV7 } from './adapters/system/uuid-v7.ts';
import { assembleRostrum, type Rostrum, type RostrumParts } from './domain/services/rostrum.ts';
import type { Store } from './ports/store.ts';

/** Parts that may be swapped: the machine's clock, UUIDs of version 7, own fields without schema. */
export type RostrumOptions = Partial<Omit<RostrumParts, 'store'>>;

/** Puts the core on a store. The store stays the caller's: to make, and to close. */
export function createRostrum(store: Store, options: RostrumOptions = {}): Rostrum {
  const { clock = systemClock, ids = uuidV7, ownFields } = options;
  return assembleRostrum({ store, clock, ids, ownFields });
}

export type { Claim, Idempotency } from './domain/claim.ts';
export { emailKey } from './domain/email.ts';
export * from './domain/errors.ts';
export type { Instant } from './domain/instant.ts';
export type { FieldCode, FieldIssue } from './domain/issues.ts';
export type { Json, JsonObject } from './domain/json.ts';
export type { OwnFieldsSchema } from './domain/own-fields.ts';
export * from './domain/page.ts';
export type { Post } from './domain/post.ts';
export type { Precondition, Versions } from './domain/precondition.ts';
export type { Entity, Id, Version, Versioned } from './domain/record.ts';
export { postRules, recordLimits, serverMade, userRules } from './domain/rules.ts';
export type { PostService } from './domain/services/post-service.ts';
export type { OwnFieldsSchemas, Rostrum } from './domain/services/rostrum.ts';
export { type DeleteMode, deleteModes, type UserService } from './domain/services/user-service.ts';
export { compareText } from './domain/text.ts';
export type { User } from './domain/user.ts';
export type { Creation } from './ports/repository.ts';
export type { Store } from './ports/store.ts';
