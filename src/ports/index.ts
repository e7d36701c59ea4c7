/** What the core needs from outside. An adapter for any of it implements these interfaces. */
export type { Clock } from './clock.ts';
export type { IdGenerator } from './id-generator.ts';
export type { LogFields, Logger } from './logger.ts';
export type { PostRepository } from './post-repository.ts';
export type { Creation, Decide, Guard, Repository } from './repository.ts';
export type { Store } from './store.ts';
export type { PostsOfDeleted, UserRepository } from './user-repository.ts';
