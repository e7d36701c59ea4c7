/**
 * Every bound of the store, in milliseconds where nothing else is said. Together they let no
 * request last longer than `callMs`, whatever becomes of the server or of the network.
 */
export const limits = {
  /** A call of the store, with all its steps and retries. */
  callMs: 8000,
  /** The deletion of a user together with many posts: as long as it gets on, until this. */
  cascadeMs: 50_000,
  /** Finding a server, and waiting for a free connection to it. */
  selectionMs: 4000,
  connectMs: 3000,
  /** Silence on a connection in use. Longer than an operation may last on the server. */
  socketMs: 6000,
  /** An operation on the server. */
  operationMs: 5000,
  /** How often the driver looks after the servers that it knows. */
  heartbeatMs: 5000,
  /** For how long a call, or `ready`, waits for the first connection. */
  openingMs: 3000,
  /** Between two attempts to connect for the first time. */
  reconnectMs: 500,
  /** For how long `close` waits for the calls that are under way, and then for the client. */
  closingMs: 9000,
  goodbyeMs: 1000,
  /** Connections to a server, when the URL does not say. */
  poolSize: 50,
  /** Calls at the same time; more of them are refused as `overloaded`. */
  calls: 2000,
  /** Documents of different requests that share a command. */
  batch: 16,
  /** For how long a deletion that was abandoned may hold up others: see fence.ts. */
  leaseMs: 5000,
  /** The same for the deletion of a user with more posts than this. */
  cascadeLeaseMs: 60_000,
  quickPosts: 5,
  /** After this a call that waits for a post in the making takes it for abandoned. */
  pendingMs: 1500,
  /** What a cascade changes at once: posts, and bytes of BSON. */
  cascadePosts: 1000,
  cascadeBytes: 16 * 1024 * 1024,
  /** Records that `load` stores at once. */
  loadRecords: 500,
  /** For how long a process that died holds up a migration: longer than an operation may be silent. */
  migrationLeaseMs: 15_000,
  migrationKeepMs: 1000,
  migrationSayMs: 5000,
  /** Documents that a migration changes at once. */
  migrationRecords: 1000,
  /** Hidden documents stay at least as long as this beyond their use. */
  graceMs: 60 * 60 * 1000,
  /** Between two sweeps of outlived receipts. */
  sweepMs: 60 * 60 * 1000,
} as const;
