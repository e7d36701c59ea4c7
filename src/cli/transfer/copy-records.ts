import type { Entity } from '../../domain/record.ts';
import type { Store } from '../../ports/store.ts';
import { Failure } from '../failure.ts';
import { freeAddresses } from './addresses.ts';
import { compare } from './compare.ts';
import type { CopyOptions } from './copy-options.ts';
import { differing, type Loader, loadAll } from './load.ts';
import { type Source, storeSource, tallyOf } from './source.ts';
import { removeForeign, type Survey, survey } from './survey.ts';
import { sameTally, type Tally, tallyText } from './tally.ts';
import { type Batch, type Scanner, walk } from './walk.ts';

/**
 * Makes a store hold what a source holds: records as they are, with ids, versions and times.
 *
 * Both sides are walked by id, and only what differs is written. So a copy that was interrupted
 * goes on where it was, and one that is made again does nothing.
 *
 * @throws Failure when the target holds other data, or is not equal in the end
 */
export async function copyRecords(
  source: Source,
  target: Store,
  options: CopyOptions,
): Promise<Tally> {
  const { progress, overwrite } = options;
  const { users, posts } = await source.count();
  if (!(await isEmpty(target))) {
    const found = await survey(source, target, options);
    if (found.foreign + found.newer > 0 && !overwrite) throw inTheWay(found);
    if (found.foreign > 0 && users + posts === 0) throw nothingToCopy();
    if (found.foreign > 0) await removeForeign(source, target, options);
    if (found.moved > 0) await freeAddresses(source, target, options);
  }
  progress.begin('users', users);
  await copyKind(source.users(), target.users, options);
  progress.begin('posts', posts);
  await copyKind(source.posts(), target.posts, options);
  return verify(source, target, options);
}

async function isEmpty({ users, posts }: Store): Promise<boolean> {
  return (await users.scan(1)).length === 0 && (await posts.scan(1)).length === 0;
}

async function copyKind<R extends Entity>(
  source: AsyncIterable<Batch<R>>,
  target: Scanner<R> & Loader<R>,
  { progress, signal }: CopyOptions,
): Promise<void> {
  for await (const step of compare(source, walk(target, signal))) {
    signal.throwIfAborted();
    await loadAll(target, differing(step));
    progress.advance(step.source.length);
  }
  progress.end();
}

async function verify(
  source: Source,
  target: Store,
  { progress, signal }: CopyOptions,
): Promise<Tally> {
  const there = await tallyOf(storeSource(target, signal), 'checking target', progress);
  const given = await tallyOf(source, 'checking source', progress);
  if (sameTally(given, there)) return there;
  throw new Failure(
    `The two sides differ (source: ${tallyText(given)}; target: ${tallyText(there)}): somebody ` +
      'wrote to one of them meanwhile; run the same command again, and it carries the rest over.',
  );
}

function inTheWay({ foreign, newer, example }: Survey): Failure {
  const records = (count: number) => (count === 1 ? '1 record' : `${count} records`);
  const others = [
    ...(foreign > 0 ? [`${records(foreign)} that the source does not have`] : []),
    ...(newer > 0 ? [`${records(newer)} that changed since the source had them so`] : []),
  ];
  return new Failure(
    `The target holds ${others.join(' and ')} (${example}): choose another target, or say ` +
      '--overwrite to have the source in their place.',
  );
}

function nothingToCopy(): Failure {
  return new Failure(
    'The source holds no record, and --overwrite would leave the target empty: see that the source is the right one.',
  );
}
