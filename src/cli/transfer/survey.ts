import type { Entity } from '../../domain/record.ts';
import type { Store } from '../../ports/store.ts';
import { moved } from './addresses.ts';
import { compare, newer, type Step } from './compare.ts';
import type { CopyOptions } from './copy-options.ts';
import type { Source } from './source.ts';
import { walk } from './walk.ts';

/** What a target holds beside what the source has. */
export interface Survey {
  /** Records that the source does not have. */
  readonly foreign: number;
  /** Records that were changed since the source had them so. */
  readonly newer: number;
  /** One of either, for a message. */
  readonly example: string;
  /** Users who have another address in the source. */
  readonly moved: number;
}

/** Looks at both sides and changes nothing. */
export async function survey(
  source: Source,
  target: Store,
  { progress, signal }: CopyOptions,
): Promise<Survey> {
  const { users, posts } = await source.count();
  const found = { foreign: 0, newer: 0, example: '', moved: 0 };
  const note = <R extends Entity>(kind: 'user' | 'post', step: Step<R>) => {
    const changed = newer(step);
    const [first] = [...step.foreign, ...changed];
    if (first && found.example === '') found.example = `the ${kind} ${first.record.id}`;
    found.foreign += step.foreign.length;
    found.newer += changed.length;
  };
  progress.begin('comparing', users + posts);
  for await (const step of compare(source.users(), walk(target.users, signal))) {
    note('user', step);
    found.moved += moved(step).length;
    progress.advance(step.source.length);
  }
  for await (const step of compare(source.posts(), walk(target.posts, signal))) {
    note('post', step);
    progress.advance(step.source.length);
  }
  progress.end();
  return found;
}

/** Removes what the source does not have: posts first, and users with what posts they still have. */
export async function removeForeign(
  source: Source,
  { users, posts }: Store,
  { signal }: CopyOptions,
): Promise<void> {
  for await (const { foreign } of compare(source.posts(), walk(posts, signal))) {
    await Promise.all(foreign.map(({ record }) => posts.delete(record.id)));
  }
  for await (const { foreign } of compare(source.users(), walk(users, signal))) {
    // Posts that are left are the source's; they come back with the author that they have there.
    await Promise.all(foreign.map(({ record }) => users.delete(record.id, { posts: 'delete' })));
  }
}
