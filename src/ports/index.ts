/** What the core needs from outside, and what a store needs to provide it. */

export {
  type CustomFilterFields,
  type CustomFilters,
  type CustomFilterType,
  customEqualities,
} from '../domain/custom-filters.ts';
export {
  afterChange,
  emailTaken,
  isRostrumError,
  type Outcome,
  RostrumError,
  storeUnavailable,
  unknownAuthor,
} from '../domain/errors.ts';
export { earliestInstant, type Instant, latestInstant, nextInstant } from '../domain/instant.ts';
export type { Json, JsonObject } from '../domain/json.ts';
export {
  type CustomFilter,
  comparePositions,
  cutPage,
  type EntityFilter,
  type Order,
  type Page,
  type PageRequest,
  type Position,
  type PostFilter,
  type PostSort,
  postSortKey,
  postSorts,
  type TimeSpan,
  type UserFilter,
  type UserSort,
  userSortKey,
  userSorts,
} from '../domain/list.ts';
export { type Post, withoutAuthor } from '../domain/post.ts';
export type { Receipt } from '../domain/receipt.ts';
export {
  type Entity,
  type Id,
  type Version,
  type Versioned,
  VersionedRecord,
} from '../domain/record.ts';
export { compareText, prefixSpan, type TextSpan, textKey } from '../domain/text.ts';
export type { User } from '../domain/user.ts';
export type { Clock } from './clock.ts';
export type { EventLog, EventPage, EventPosition, RecordEvent } from './event-log.ts';
export type { IdGenerator } from './id-generator.ts';
export { type LogFields, type Logger, safeLogger } from './logger.ts';
export type { PostRepository } from './post-repository.ts';
export type { Creation, Decide, Guard, Repository } from './repository.ts';
export type { Store, StoreOptions } from './store.ts';
export type { RecordTransfer, ScanRequest, Transfer } from './transfer.ts';
export type { DeleteMode, Deletion, UserRepository } from './user-repository.ts';
