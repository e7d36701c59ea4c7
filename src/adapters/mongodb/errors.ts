import {
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
  refusedByDatabase,
  storeUnavailable,
} from '../../domain/errors.ts';

/**
 * A server, or a database, that Rostrum does not run on: too old, standalone, written by another version,
 * or with something else where the collections and indexes of the store belong.
 */
export class MongodbRefusal extends Error {
  override readonly name = 'MongodbRefusal';
  readonly code = 'store-refused';
}

/**
 * Translates an error of the driver by class, code and label, never by message. An unexpected error stays
 * as it is.
 */
export function translate(error: unknown, outcome: Outcome): unknown {
  return isSocketError(error) || (error instanceof MongoError && isOutage(error))
    ? storeUnavailable(outcome, error)
    : error;
}

/** Returns true for an error of the network or of an election: the same command may succeed now. */
export function isPassing(error: unknown): boolean {
  const cause = causeOf(error);
  if (isSocketError(cause) || cause instanceof MongoNetworkError) return true;
  return cause instanceof MongoError && passingCodes.has(Number(cause.code));
}

/** Returns true when a transaction that is not yet committed may be repeated. */
export function isTransient(error: unknown): boolean {
  const cause = causeOf(error);
  // The driver puts no label on errors of sockets, in transactions either.
  if (isPassing(cause)) return true;
  return cause instanceof MongoError && cause.hasErrorLabel('TransientTransactionError');
}

/** Returns true when a transaction may have been committed, so that only its commit may be repeated. */
export function isCommitUnknown(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof MongoError && cause.hasErrorLabel('TransientTransactionError')) return false;
  return isRostrumError(error, 'store-unavailable');
}

/** Returns true when the server ended a command because it took too long. */
export function isOverdue(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof MongoServerError && cause.code === codes.maxTimeExpired;
}

/** A statement of a command, counted from 0, that a unique index or a validator rejects. */
export class Rejected extends Error {
  override readonly name = 'Rejected';
  override readonly cause: MongoServerError;
  readonly index: number;

  constructor(index: number, cause: MongoServerError) {
    super('The server rejects a write.');
    this.index = index;
    this.cause = cause;
  }
}

/** Returns the error of the core where a unique index, or a validator, rejects a record. */
export function rejectionOf(error: unknown): unknown {
  const cause = error instanceof Rejected ? error.cause : error;
  if (!(cause instanceof MongoServerError)) return error;
  if (cause.code === codes.duplicateKey) {
    const [, custom] = /^custom\.(?:text|number)\.(.+)$/.exec(keyOf(cause)) ?? [];
    if (custom !== undefined) return fieldTaken(custom);
    if (keyOf(cause) === 'emailKey') return emailTaken();
  }
  const isRule = cause.code === codes.duplicateKey || cause.code === codes.validation;
  return isRule ? refusedByDatabase(cause) : error;
}

/** Returns the fields of the unique index that two documents conflict in. */
export function keyOf({ keyPattern = {} }: MongoServerError): string {
  return Object.keys(keyPattern).join();
}

function causeOf(error: unknown): unknown {
  return isRostrumError(error) ? error.cause : error;
}

/** The driver passes some errors of a socket on as they are. */
function isSocketError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof MongoError || !('code' in error)) return false;
  return /^(?:E[A-Z]+|ERR_(?:STREAM|SOCKET)_[A-Z_]+)$/.test(String(error.code));
}

function isOutage(error: MongoError): boolean {
  return (
    outages.some((outage) => error instanceof outage) ||
    // Classes that the driver does not export.
    outageNames.has(error.name) ||
    passingCodes.has(Number(error.code)) ||
    outageCodes.has(Number(error.code)) ||
    outageLabels.some((label) => error.hasErrorLabel(label))
  );
}

const outages = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoNotConnectedError,
  MongoTopologyClosedError,
  MongoClientClosedError,
  MongoWriteConcernError,
];

const outageNames = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

const outageLabels = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

// Codes: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml

const codes = { maxTimeExpired: 50, validation: 121, duplicateKey: 11_000 } as const;

/** A new primary, a node that stops, or a snapshot that the server cannot read at the moment. */
const passingCodes = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  89, // NetworkTimeout
  91, // ShutdownInProgress
  134, // ReadConcernMajorityNotAvailableYet
  189, // PrimarySteppedDown
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  9001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_602, // InterruptedDueToReplStateChange
  13_388, // StaleConfig
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
]);

const outageCodes = new Set([
  13, // Unauthorized
  18, // AuthenticationFailed
  24, // LockTimeout
  43, // CursorNotFound
  codes.maxTimeExpired,
  64, // WriteConcernTimeout
  112, // WriteConflict
  175, // QueryPlanKilled
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  279, // ClientDisconnect
  290, // TransactionExceededLifetimeLimitSeconds
  365, // TemporarilyUnavailable
  11_601, // Interrupted
  14_031, // OutOfDiskSpace
]);
