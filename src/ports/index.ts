/** The interfaces that the core depends on, and helper functions for writing a store. */

export {
  emailTaken,
  fieldTaken,
  isRostrumError,
  type Outcome,
  RostrumError,
  refusedByDatabase,
  storeUnavailable,
  unknownAuthor,
  wrongType,
} from '../domain/errors.ts';
export {
  addDeclarations,
  type CollectionField,
  checkRecord,
  DeclarationError,
  type DeclaredField,
  type DeclaredFields,
  type DeclaredType,
  type FieldDeclarations,
  fieldsIn,
  notUnique,
  StoredRecordsCheck,
} from '../domain/fields/declared-fields.ts';
export { emailKey, emailPrefixKey } from '../domain/fields/email.ts';
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
  scanQuery,
} from '../domain/lists/list.ts';
export {
  declaredValue,
  instantFields,
  type SearchRow,
  searchFields,
  searchRow,
} from '../domain/lists/search.ts';
export {
  earliestInstant,
  type Instant,
  latestInstant,
  nextInstant,
} from '../domain/records/instant.ts';
export type { Json, JsonObject } from '../domain/records/json.ts';
export { type Post, withoutAuthor } from '../domain/records/post.ts';
export { type Receipt, repeatedReceipt } from '../domain/records/receipt.ts';
export {
  type Collection,
  type Entity,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
  versionToLoad,
} from '../domain/records/record.ts';
export { compareText } from '../domain/records/text.ts';
export type { User } from '../domain/records/user.ts';
export type { Clock } from './clock.ts';
export type { EventLog, EventPage, EventPosition, RecordEvent } from './event-log.ts';
export type { IdGenerator } from './id-generator.ts';
export { type LogFields, type Logger, safeLogger } from './logger.ts';
export type { PostRepository } from './post-repository.ts';
export type { Creation, CreationHints, Decide, Guard, Repository } from './repository.ts';
export type { Store, StoreOptions } from './store.ts';
export type { DeletedId, RecordTransfer, ScanRequest, Transfer } from './transfer.ts';
export type { DeleteMode, Deletion, UserRepository } from './user-repository.ts';
