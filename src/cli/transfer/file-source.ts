import type { Post } from '../../domain/post.ts';
import type { Versioned } from '../../domain/record.ts';
import type { User } from '../../domain/user.ts';
import type { CheckedFile } from './check-file.ts';
import { readLine } from './export-lines.ts';
import { readLines } from './read-lines.ts';
import type { Source } from './source.ts';
import type { Batch } from './walk.ts';

const batchLimits = { bytes: 1024 * 1024, records: 500 };

/** The records of an export that was found to be well. */
export function fileSource(file: CheckedFile, signal: AbortSignal): Source {
  return {
    count: async () => file.tally,
    users: () => batches<User>(file, 'user', signal),
    posts: () => batches<Post>(file, 'post', signal),
  };
}

async function* batches<R extends User | Post>(
  { path, postsAt }: CheckedFile,
  kind: 'user' | 'post',
  signal: AbortSignal,
): AsyncGenerator<Batch<R>> {
  let batch: Versioned<R>[] = [];
  let bytes = 0;
  for await (const line of readLines(path, kind === 'user' ? 0 : postsAt)) {
    const content = readLine(line.text ?? '');
    if (content.kind !== kind) break;
    batch.push(content.stored as Versioned<R>);
    bytes += line.bytes;
    if (bytes < batchLimits.bytes && batch.length < batchLimits.records) continue;
    signal.throwIfAborted();
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
