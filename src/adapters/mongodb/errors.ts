import {
  type Document,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import {
  emailTaken,
  fieldTaken,
  isRostrumError,
  type Outcome,
  RostrumError,
  refusedByDatabase,
  storeUnavailable,
  wrongType,
} from '../../domain/errors.ts';
import { validatorTitle } from './collections.ts';

// Driver errors are distinguished by class (or its name), code and label, never by message.

/**
 * Thrown if Rostrum cannot use a server or a database: it is too old, standalone or written by another version,
 * or has something else in place of the store's collections and indexes. The message says what to do.
 */
export class MongodbStoreError extends Error {
  override readonly name = 'MongodbStoreError';
  readonly code = 'store-unusable';
}

/** Throws what {@link constraintErrorOf} returns. */
export function throwConstraintError(error: unknown): never {
  throw constraintErrorOf(error);
}

/** Returns the error of the ports if a unique index or a validator rejected a record, and any other error unchanged. */
export function constraintErrorOf(error: unknown): unknown {
  if (error instanceof MongoServerError && error.code === codes.invalidDocument) {
    return wrongTypeIn(error) ?? refusedByDatabase(error);
  }
  if (!isDuplicate(error)) return error;
  const { keyPattern = {}, keyValue } = error;
  return takenError(Object.keys(keyPattern).join(), keyValue?._id) ?? refusedByDatabase(error);
}

/**
 * Returns the error for a taken value of a unique index; undefined for any other index. An operator's unique index on one
 * custom field counts as a declared one.
 */
export function takenError(path: string, value: unknown): RostrumError | undefined {
  if (path === '_id') return new RostrumError('id-taken', { id: String(value) });
  if (path === 'emailKey') return emailTaken();
  const [, field] = /^custom\.([^,.]+)$/.exec(path) ?? [];
  return field === undefined ? undefined : fieldTaken(field);
}

/** Returns the error for a record that breaks a declaration; undefined if another rule rejected it. */
function wrongTypeIn({ errInfo }: MongoServerError): RostrumError | undefined {
  const rule = brokenRules(errInfo?.details).find(({ title }) => title === validatorTitle);
  const [custom] = rule?.schemaRulesNotSatisfied[0].propertiesNotSatisfied[0].details ?? [];
  const wrong: readonly Document[] | undefined = custom?.propertiesNotSatisfied;
  return wrong && wrongType(wrong.map(({ propertyName }) => propertyName));
}

/** Returns the parts of a validator, joined with `$and`, that a document breaks. */
function brokenRules(details: Document = {}): Document[] {
  const clauses: readonly Document[] = details.clausesNotSatisfied ?? [];
  return details.operatorName === '$and'
    ? clauses.flatMap((one) => brokenRules(one.details))
    : [details];
}

export function isDuplicate(error: unknown): error is MongoServerError {
  return error instanceof MongoServerError && error.code === codes.duplicateKey;
}

/** Returns `store-unavailable` for a driver error that means an outage, and any other error unchanged. */
export function translate(error: unknown, outcome: Outcome): unknown {
  return isOutage(error) ? storeUnavailable(outcome, error) : error;
}

/**
 * Returns true if the same command or transaction can succeed now: after an election, a broken
 * connection or a conflict.
 */
export function isTransient(error: unknown): boolean {
  const cause = isRostrumError(error) ? error.cause : error;
  // The driver puts no label on socket errors, not even in transactions.
  if (isSocketError(cause) || cause instanceof MongoNetworkError) return true;
  return (
    isAborted(cause) || (cause instanceof MongoError && codes.transient.has(Number(cause.code)))
  );
}

/** Returns true if a transaction may have been committed, so that only its commit can be repeated. */
export function isCommitUnknown(error: unknown): boolean {
  return isRostrumError(error, 'store-unavailable') && !isAborted(error.cause);
}

function isAborted(cause: unknown): boolean {
  return cause instanceof MongoError && cause.hasErrorLabel('TransientTransactionError');
}

/** The driver does not wrap every error of its sockets. */
function isSocketError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof MongoError || !('code' in error)) return false;
  return /^(?:E[A-Z]+|ERR_(?:STREAM|SOCKET)_[A-Z_]+)$/.test(String(error.code));
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof MongoError)) return isSocketError(error);
  return (
    outageClasses.some((outage) => error instanceof outage) ||
    // Classes that the driver does not export.
    ['MongoWaitQueueTimeoutError', 'MongoPoolClosedError'].includes(error.name) ||
    codes.transient.has(Number(error.code)) ||
    codes.outage.has(Number(error.code)) ||
    outageLabels.some((label) => error.hasErrorLabel(label))
  );
}

const outageClasses = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoNotConnectedError,
  MongoTopologyClosedError,
  MongoClientClosedError,
  MongoWriteConcernError,
];

const outageLabels = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

/** https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
export const codes = {
  unauthorized: 13,
  invalidDocument: 121,
  duplicateKey: 11_000,
  maxTimeExpired: 50,
  /** CannotCreateIndex, IndexOptionsConflict, IndexKeySpecsConflict */
  indexRejected: new Set([67, 85, 86]),
  /** DocumentValidationFailure, ConversionFailure */
  unchangeable: new Set([121, 241]),
  /**
   * HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress, ReadConcernMajorityNotAvailableYet,
   * PrimarySteppedDown, SnapshotTooOld, SnapshotUnavailable, SocketException, LegacyNotPrimary,
   * NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange, StaleConfig,
   * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary
   */
  transient: new Set([
    6, 7, 89, 91, 134, 189, 239, 246, 9001, 10_058, 10_107, 11_600, 11_602, 13_388, 13_435, 13_436,
  ]),
  /**
   * Unauthorized, AuthenticationFailed, LockTimeout, CursorNotFound, MaxTimeMSExpired, WriteConcernTimeout,
   * WriteConflict, QueryPlanKilled, NetworkInterfaceExceededTimeLimit, CursorKilled, NoSuchTransaction,
   * ExceededTimeLimit, ClientDisconnect, TransactionExceededLifetimeLimitSeconds, TemporarilyUnavailable,
   * Interrupted, OutOfDiskSpace
   */
  outage: new Set([
    13, 18, 24, 43, 50, 64, 112, 175, 202, 237, 251, 262, 279, 290, 365, 11_601, 14_031,
  ]),
} as const;
