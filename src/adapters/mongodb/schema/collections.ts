/**
 * The version of what is stored. It grows when a version of Rostrum can no longer read or write
 * what a later one stores. A database that does not say is of version 1.
 */
export const schemaVersion = 2;

/** Where records are kept. The names have the version: a server of an earlier one finds none. */
export const collectionNames = { users: 'users_v2', posts: 'posts_v2' } as const;

/** Where the version is kept: one document. */
export const metaCollection = 'rostrum';
