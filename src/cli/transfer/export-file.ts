import { open } from 'node:fs/promises';
import type { Entity } from '../../domain/record.ts';
import { Failure } from '../failure.ts';
import type { LongRun } from '../run-long.ts';
import { checkFile } from './check-file.ts';
import { endLine, recordLine } from './lines.ts';
import { writeFile } from './part-file.ts';
import { batchLimits, type Records, type Source } from './source.ts';
import { type RecordKind, Summarizer, type Summary, sameSummary, summaryText } from './summary.ts';

/**
 * Writes all records of a source into `FILE.part`, which becomes `FILE` when it is complete, synced
 * to the disk and equal to the source.
 *
 * @throws Failure when the file exists, or the source changed meanwhile
 */
export async function exportFile(source: Source, path: string, run: LongRun): Promise<Summary> {
  return writeFile(path, async (part) => {
    await write(source, part, run);
    const { summary } = await checkFile(part, run);
    const now = await source.summarize(run.progress);
    if (!sameSummary(summary, now)) {
      throw new Failure(
        `The store is not what was exported (${summaryText(now)}; the file: ${summaryText(summary)}): ` +
          'somebody wrote to it meanwhile; run the same command again.',
      );
    }
    return summary;
  });
}

async function write(source: Source, part: string, { progress }: LongRun): Promise<void> {
  const { users, posts } = await source.count();
  const summarizer = new Summarizer();
  await using file = await open(part, 'w');
  const add = async (kind: RecordKind, records: Records<Entity>) => {
    let [lines, length]: [string[], number] = [[], 0];
    const flush = async () => {
      await file.appendFile(lines.join(''));
      [lines, length] = [[], 0];
    };
    for await (const stored of records) {
      const line = recordLine(kind, stored);
      lines.push(line);
      length += line.length;
      summarizer.add(kind, stored);
      progress.advance(1);
      if (length >= batchLimits.bytes) await flush();
    }
    await flush();
    progress.end();
  };
  progress.begin('users', users);
  await add('user', source.users());
  progress.begin('posts', posts);
  await add('post', source.posts());
  await file.appendFile(endLine(summarizer.end()));
}
