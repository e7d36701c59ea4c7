import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { isRostrumError, type Outcome, storeUnavailable } from '../../../domain/errors.ts';

/** A write met another document with the same value under a unique index. */
export class DuplicateKey extends Error {
  override readonly name = 'DuplicateKey';
  /** The indexed field: `_id`, `emailKey` or `claims.key`. */
  readonly field: string;

  constructor(error: MongoServerError) {
    super('A document with this key is there already.', { cause: error });
    this.field = Object.keys(error.keyPattern ?? {})[0] ?? '';
  }
}

/**
 * Translates an error of the driver for the core, by class, code and label, never by message. An
 * unexpected error stays as it is.
 */
export function translate(error: unknown, outcome: Outcome): unknown {
  if (isBrokenSocket(error)) return storeUnavailable(outcome, error);
  if (isRostrumError(error) || !(error instanceof MongoError)) return error;
  if (isOfWriteConcern(error)) return storeUnavailable(outcome, error);
  if (error instanceof MongoServerError && error.code === duplicateKey)
    return new DuplicateKey(error);
  return isOutage(error) ? storeUnavailable(outcome, error) : error;
}

/** True when it was written, but perhaps not as durably as was asked for. */
function isOfWriteConcern(error: MongoError): boolean {
  if (error instanceof MongoWriteConcernError) return true;
  return error instanceof MongoBulkWriteError && error.result.getWriteConcernError() !== undefined;
}

/** True when the server cannot read a snapshot now, but can a moment later. */
export function isSnapshotMissing(error: unknown): boolean {
  return [239, 246].includes(Number(driversError(error)?.code));
}

/** True when the transaction may simply be tried again. */
export function isTransient(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError');
}

/** True when the transaction may have been committed, and committing again is safe. */
export function isCommitUnknown(error: unknown): boolean {
  return hasLabel(error, 'UnknownTransactionCommitResult');
}

/** True when the server gave up what took it too long. */
export function isOverdue(error: unknown): boolean {
  return driversError(error)?.code === 50;
}

/** Of an error of the driver, or of what became of it here. */
function hasLabel(error: unknown, label: string): boolean {
  return driversError(error)?.hasErrorLabel(label) ?? false;
}

function driversError(error: unknown): MongoError | undefined {
  const cause = isRostrumError(error) ? error.cause : error;
  return cause instanceof MongoError ? cause : undefined;
}

/** True when the driver gave up before it found a server to ask. */
export function isSelectionFailure(error: unknown): boolean {
  return error instanceof MongoServerSelectionError;
}

/** The driver lets some errors of a socket through as they are. */
function isBrokenSocket(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof MongoError || !('code' in error)) return false;
  return /^(?:E[A-Z]+|ERR_(?:STREAM|SOCKET)_[A-Z_]+)$/.test(String(error.code));
}

function isOutage(error: MongoError): boolean {
  return (
    outages.some((outage) => error instanceof outage) ||
    // Classes that the driver does not export.
    outageNames.has(error.name) ||
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
];

const outageNames = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

const outageLabels = ['RetryableWriteError', 'TransientTransactionError', 'SystemOverloadedError'];

const duplicateKey = 11_000;

/** https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const outageCodes = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  13, // Unauthorized
  18, // AuthenticationFailed
  24, // LockTimeout
  43, // CursorNotFound
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  89, // NetworkTimeout
  91, // ShutdownInProgress
  112, // WriteConflict
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  239, // SnapshotTooOld
  246, // SnapshotUnavailable
  251, // NoSuchTransaction
  262, // ExceededTimeLimit
  279, // ClientDisconnect
  290, // TransactionExceededLifetimeLimitSeconds
  365, // TemporarilyUnavailable
  9001, // SocketException
  10_058, // LegacyNotPrimary
  10_107, // NotWritablePrimary
  11_600, // InterruptedAtShutdown
  11_601, // Interrupted
  11_602, // InterruptedDueToReplStateChange
  13_388, // StaleConfig
  13_435, // NotPrimaryNoSecondaryOk
  13_436, // NotPrimaryOrSecondary
  14_031, // OutOfDiskSpace
]);
