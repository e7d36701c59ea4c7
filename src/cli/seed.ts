import { uuidV7 } from '../adapters/system/index.ts';
import { isRostrumError } from '../domain/errors.ts';
import { addMs, instantFromMs } from '../domain/instant.ts';
import type { Id } from '../domain/record.ts';
import { RecordModel } from '../domain/record-model.ts';
import { postRules, userRules } from '../domain/rules.ts';
import { assembleRostrum, type CustomFieldsSchemas } from '../domain/services/rostrum.ts';
import type { Store } from '../ports/store.ts';
import { redactStoreUrl } from '../settings/store-url.ts';
import { counted } from './count.ts';
import { readSchemas, type SchemaFiles } from './custom-fields.ts';
import { Failure, type StoreSetting } from './failure.ts';
import { type LongRun, runLong } from './run-long.ts';
import { seedData } from './seed-data.ts';
import { withStore } from './with-store.ts';

export interface SeedFlags extends SchemaFiles {
  readonly users?: number;
  readonly posts?: number;
  readonly seed?: number;
}

const batch = 500;
/** The records' times are spread over the days before now. */
const spreadMs = 300 * 24 * 60 * 60 * 1000;

/** `rostrum seed`: adds users and posts that a person may play with. */
export async function seedCommand(
  named: StoreSetting,
  { users = 10, posts = 100, seed = Math.floor(Math.random() * 1e9), ...files }: SeedFlags = {},
): Promise<void> {
  const customFields = await readSchemas(files);
  const added = { users: 0, posts: 0 };
  const counts = () => `${counted(added.users, 'user')} and ${counted(added.posts, 'post')}`;
  const next = () =>
    added.users + added.posts === 0
      ? 'run the same command again: nothing was added'
      : `run the command again with another --seed than ${seed}: ${counts()} are added, and stay`;
  await runLong(
    (run) =>
      withStore(named, 'target', (store) =>
        seedRecords(store, { ...run, users, posts, seed, customFields, added }),
      ),
    next,
  );
  process.stdout.write(
    `Added ${counts()}, made with --seed ${seed}\n` + `  to   ${redactStoreUrl(named.url)}\n`,
  );
}

export interface SeedOptions extends LongRun {
  readonly users: number;
  readonly posts: number;
  readonly seed: number;
  readonly customFields?: CustomFieldsSchemas;
  /** Counts what is added, also until an early end. */
  readonly added?: { users: number; posts: number };
}

/**
 * @throws Failure when the store has users of the same seed, or a schema asks for custom fields:
 * nothing is added then
 */
export async function seedRecords(
  store: Store,
  {
    users,
    posts,
    seed,
    customFields,
    added = { users: 0, posts: 0 },
    progress,
    signal,
  }: SeedOptions,
): Promise<void> {
  const data = seedData(seed);
  const step = spreadMs / Math.max(1, users + posts);
  const begin = instantFromMs(Date.now() - spreadMs);
  let made = 0;
  const clock = { now: () => addMs(begin, Math.floor(step * made++)) };
  const rostrum = assembleRostrum({ store, clock, ids: uuidV7, customFields });
  const ids: Id[] = [];

  const seedTaken = () =>
    new Failure(`The store has users of the seed ${seed}: choose another --seed, or none.`);
  const explain = (error: unknown) => {
    if (isRostrumError(error, 'email-taken')) throw seedTaken();
    if (!isRostrumError(error, 'invalid-record')) throw error;
    const [{ pointer, message } = { pointer: '', message: '' }] = error.details.issues;
    throw new Failure(
      `Seed makes no records that fit the schema of custom fields, which says of ${pointer}: ${message}`,
    );
  };
  const many = async (what: string, count: number, make: (n: number) => Promise<void>) => {
    progress.begin(what, count);
    for (let done = 0; done < count; done += batch) {
      signal.throwIfAborted();
      const length = Math.min(batch, count - done);
      await Promise.all(Array.from({ length }, (_, n) => make(done + n))).catch(explain);
      progress.advance(length);
    }
    progress.end();
  };
  const sample = seedData(seed);
  const [user, post] = [sample.user(), sample.post(0).input];
  try {
    // No record of a seed has custom fields: a schema takes all of them or none.
    if (users > 0) new RecordModel(userRules, customFields?.users).make(user, 'user', begin);
    if (posts > 0) new RecordModel(postRules, customFields?.posts).make(post, 'post', begin);
  } catch (error) {
    explain(error);
  }
  if (users > 0) {
    const { items } = await rostrum.users.list({ filter: { email: user.email }, limit: 1 });
    if (items.length > 0) throw seedTaken();
  }
  await many('users', users, async (n) => {
    ids[n] = (await rostrum.users.create(data.user())).record.id;
    added.users += 1;
  });
  await many('posts', posts, async () => {
    const { input, author } = data.post(users);
    const authorId = author === undefined ? null : (ids[author] ?? null);
    await rostrum.posts.create({ ...input, authorId });
    added.posts += 1;
  });
}
