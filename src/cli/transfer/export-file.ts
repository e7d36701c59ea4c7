import type { Entity } from '../../domain/record.ts';
import { Failure } from '../failure.ts';
import { checkFile } from './check-file.ts';
import { endLine, recordLine } from './export-lines.ts';
import { keepPart, refuseExisting } from './keep-part.ts';
import { PartFile } from './part-file.ts';
import type { Progress } from './progress.ts';
import { type Source, tallyOf } from './source.ts';
import { type KindName, sameTally, type Tally, Tallying, tallyText } from './tally.ts';
import type { Batch } from './walk.ts';

/**
 * Writes all records of a source into a file: into `FILE.part` first, which becomes `FILE` when it
 * is whole, safe on the disk and found equal to the source. What an interrupted export left is gone
 * on with, as far as it still is what the source holds.
 *
 * @throws Failure when the file is there already, or the source changed on the way
 */
export async function exportFile(
  source: Source,
  path: string,
  options: { readonly progress: Progress; readonly signal: AbortSignal },
): Promise<Tally> {
  refuseExisting(path);
  const part = `${path}.part`;
  await write(source, part, options.progress);
  const { tally } = await checkFile(part, options);
  const now = await tallyOf(source, 'checking source', options.progress);
  if (!sameTally(tally, now)) {
    throw new Failure(
      `The store is not what was exported (${tallyText(now)}; the file: ${tallyText(tally)}): ` +
        'somebody wrote to it meanwhile; run the same command again, and it carries the rest over.',
    );
  }
  await keepPart(part, path);
  return tally;
}

async function write(source: Source, part: string, progress: Progress): Promise<void> {
  const { users, posts } = await source.count();
  const tallying = new Tallying();
  const file = await PartFile.open(part);
  try {
    const add = async (
      name: KindName,
      kind: 'user' | 'post',
      batches: AsyncIterable<Batch<Entity>>,
    ) => {
      for await (const batch of batches) {
        await file.add(batch.map((stored) => recordLine(kind, stored)));
        tallying.add(name, batch);
        progress.advance(batch.length);
      }
      progress.end();
    };
    progress.begin('users', users);
    await add('users', 'user', source.users());
    progress.begin('posts', posts);
    await add('posts', 'post', source.posts());
    await file.add([endLine(tallying.end())]);
    await file.finish();
  } finally {
    await file.close();
  }
}
