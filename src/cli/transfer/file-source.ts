import type { Post } from '../../domain/post.ts';
import type { Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { CheckedFile } from './check-file.ts';
import { readLine } from './lines.ts';
import { readLines } from './read-lines.ts';
import type { Source } from './source.ts';
import type { RecordKind } from './summary.ts';

/** The records of an export that was checked. */
export function fileSource({ path, summary, postsAt }: CheckedFile, signal: AbortSignal): Source {
  return {
    count: async () => summary,
    users: () => records<User>(path, 0, 'user', signal),
    posts: () => records<Post>(path, postsAt, 'post', signal),
    // It was summarized when it was checked.
    summarize: async () => summary,
  };
}

async function* records<R extends User | Post>(
  path: string,
  from: number,
  kind: RecordKind,
  signal: AbortSignal,
): AsyncGenerator<Versioned<R>> {
  for await (const line of readLines(path, from)) {
    signal.throwIfAborted();
    const content = readLine(line.text ?? '');
    if (content.kind !== kind) return;
    yield content.stored as Versioned<R>;
  }
}
