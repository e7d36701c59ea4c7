/** The interfaces that the core depends on, and helper functions for writing a store. */

export {
  brokenDeclarationMessage,
  checkLoaded,
  type DeclaredField,
  type DeclaredFields,
  type DeclaredType,
  type FieldDeclarations,
  fieldsIn,
  notUniqueMessage,
} from '../domain/declared-fields.ts';
export { emailKey, emailPrefixKey } from '../domain/email.ts';
export {
  afterChange,
  emailTaken,
  fieldTaken,
  isRostrumError,
  type Outcome,
  RostrumError,
  refusedByDatabase,
  storeUnavailable,
  unknownAuthor,
} from '../domain/errors.ts';
export { earliestInstant, type Instant, latestInstant, nextInstant } from '../domain/instant.ts';
export type { Json, JsonObject } from '../domain/json.ts';
export {
  type Condition,
  comparePositions,
  cutPage,
  type ListQuery,
  type Page,
  type Position,
  type QueryField,
  type QueryOrder,
  type SortKey,
} from '../domain/list.ts';
export { type Post, withoutAuthor } from '../domain/post.ts';
export { type Receipt, repeatedReceipt } from '../domain/receipt.ts';
export {
  type Collection,
  type Entity,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
  versionToLoad,
} from '../domain/record.ts';
export { declaredValue, type SearchRow, searchFields, searchRow } from '../domain/search.ts';
export { compareText } from '../domain/text.ts';
export type { User } from '../domain/user.ts';
export type { Clock } from './clock.ts';
export type { EventLog, EventPage, EventPosition, RecordEvent } from './event-log.ts';
export type { IdGenerator } from './id-generator.ts';
export { type LogFields, type Logger, safeLogger } from './logger.ts';
export type { PostRepository } from './post-repository.ts';
export type { Creation, CreationHints, Decide, Guard, Repository } from './repository.ts';
export type { Store, StoreOptions } from './store.ts';
export type { DeletedId, RecordTransfer, ScanRequest, Transfer } from './transfer.ts';
export type { DeleteMode, Deletion, UserRepository } from './user-repository.ts';
