import type { Entity } from '../../domain/record.ts';
import type { Store } from '../../ports/store.ts';
import { moved } from './addresses.ts';
import { compare } from './compare.ts';
import type { CopyOptions } from './copy-options.ts';
import type { Source } from './source.ts';
import { walk } from './walk.ts';

/** What a target holds beside what the source has. */
interface Survey {
  /** Records that the source does not have. */
  readonly foreign: number;
  /** One of them, for a message. */
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
  const found = { foreign: 0, example: '', moved: 0 };
  const note = (kind: 'user' | 'post', foreign: readonly { readonly record: Entity }[]) => {
    const [first] = foreign;
    if (first && found.foreign === 0) found.example = `the ${kind} ${first.record.id}`;
    found.foreign += foreign.length;
  };
  progress.begin('comparing', users + posts);
  for await (const step of compare(source.users(), walk(target.users, signal))) {
    note('user', step.foreign);
    found.moved += moved(step).length;
    progress.advance(step.source.length);
  }
  for await (const step of compare(source.posts(), walk(target.posts, signal))) {
    note('post', step.foreign);
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
