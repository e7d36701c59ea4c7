/**
 * The limits of the store. Names that end in `Ms` are milliseconds. Together they ensure that no call lasts
 * longer than `callMs` (or `longCallMs`, if it makes progress), whatever happens to the server or the network.
 */
export const limits = {
  /** A store call, with all its commands and retries. */
  callMs: 8000,
  /** The deletion of a user with many posts, which makes progress in steps. */
  longCallMs: 50_000,
  /** One command on the server. */
  commandMs: 5000,
  /** Silence on a connection in use: longer than any command. */
  socketMs: 6000,
  /** Finding a server, and waiting for a free connection to it. */
  selectionMs: 4000,
  connectMs: 3000,
  heartbeatMs: 5000,
  /** How long a call, or `ready`, waits for the first connection. */
  openingMs: 3000,
  /** The interval between attempts to connect for the first time. */
  reconnectMs: 500,
  /** How long `close` waits for calls in progress, and then for the driver. */
  closingMs: 9000,
  driverCloseMs: 1000,
  /** How long the layout and the declared fields stay locked if the process that changes them dies. */
  lockMs: 20_000,
  /** How long an expired receipt is kept, because clocks differ. */
  receiptGraceMs: 60 * 60 * 1000,
  /** Connections per server, by default. */
  poolSize: 50,
  /** Concurrent calls. Another one fails as `overloaded`. */
  concurrentCalls: 2000,
  /** Bytes of documents to decode or to encode in one iteration of the event loop, which takes up to 4 ms. */
  bytesPerIteration: 64 * 1024,
  /** Conditions of a list that finds whole documents. With more, the list reads the ids first, then the documents. */
  maxConditionsOfFind: 2,
  /** Ids per point-read command, and concurrent commands for each collection. */
  idsPerPointRead: 64,
  pointReadCommands: 8,
  /** Concurrent groups of creations. A group that is split by author can run more transactions. */
  concurrentCreations: 4,
  /** A group is full at this many records, or once its JSON exceeds this many UTF-16 units. */
  groupRecords: 200,
  groupUnits: 1024 * 1024,
  /** Tries before the authors of a group are tried one by one. */
  groupTries: 3,
  /**
   * Documents that one command of a transaction finds or deletes. A command that deletes 20,000 posts takes longer
   * than `commandMs`.
   */
  documentsPerCommand: 1000,
  /** Posts that can be deleted with their author: by default, MongoDB aborts a transaction after 60 s. */
  postsPerDeletion: 25_000,
} as const;
