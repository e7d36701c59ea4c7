/**
 * What Rostrum will not run on: a server that is too old, a database of a later version, or one
 * that holds something else where its collections or indexes would be.
 */
export class MongodbRefusal extends Error {
  override readonly name = 'MongodbRefusal';
  readonly code = 'store-refused';
}
