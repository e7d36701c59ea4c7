/**
 * The limits of the store, in milliseconds unless the comment gives another unit. Together they ensure that no
 * call lasts longer than `callMs` (or `longCallMs`, if it makes progress), whatever happens to the server or
 * the network.
 */
export const limits = {
  /** A call of the store, with all its commands and retries. */
  callMs: 8000,
  /** A call that makes progress in steps: the deletion of a user with many posts, or `load`. */
  longCallMs: 50_000,
  /** One command on the server. */
  commandMs: 5000,
  /** Silence on a connection in use: longer than a command. */
  socketMs: 6000,
  /** Finding a server, and waiting for a free connection to it. */
  selectionMs: 4000,
  connectMs: 3000,
  heartbeatMs: 5000,
  /** How long a call, or `ready`, waits for the first connection. */
  openingMs: 3000,
  /** Between two attempts to connect for the first time. */
  reconnectMs: 500,
  /** How long `close` waits for calls that are under way, and then for the driver. */
  closingMs: 9000,
  driverCloseMs: 1000,
  /** The longest pause between two tries of a transaction; the interval between two checks whether the store is open. */
  retryMs: 20,
  /** How long a receipt stays after it has expired. */
  graceMs: 60 * 60 * 1000,
  /** How many connections can fail during one call before it gives up. */
  brokenConnections: 3,
  /** Connections to a server, when the connection string does not say. */
  poolSize: 50,
  /** Calls at the same time; one more is `overloaded`. */
  calls: 2000,
  /** Bytes of JSON up to which a record is small, and read together with others. */
  smallRecord: 16 * 1024,
  /** Bytes that all lists of a process read at a time; records that one command of a list reads. */
  listBytes: 32 * 1024 * 1024,
  listRecords: 512,
  /** Ids that share one command of point reads. */
  pointReads: 64,
  /** Transactions that create records at the same time; records and bytes that one of them takes. */
  groups: 4,
  groupRecords: 200,
  groupBytes: 1024 * 1024,
  /** Tries of a group before it is halved. */
  groupTries: 3,
  /** Documents that a command of a transaction finds, and posts that one deletes: 20,000 take `commandMs`. */
  documentsPerCommand: 1000,
  /** Posts that are deleted with their author: `transactionLifetimeLimitSeconds` is 60. */
  postsPerDeletion: 25_000,
  /** Records, and bytes of their JSON, that a transaction of `load` takes. */
  loadRecords: 500,
  loadBytes: 4 * 1024 * 1024,
} as const;
