import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';

/** Some records of a kind, by id. */
export type Batch<R extends Entity> = readonly Versioned<R>[];

export type Scanner<R extends Entity> = Pick<Repository<R, never, never>, 'scan'>;

/** A batch has about this much JSON, so that large records do not fill the memory. */
const batchText = 1024 * 1024;
const batchRecords = { first: 20, most: 500 };

/** All records of a kind in a store, in the order of their ids. */
export async function* walk<R extends Entity>(
  repository: Scanner<R>,
  signal: AbortSignal,
): AsyncGenerator<Batch<R>> {
  let limit = batchRecords.first;
  let after: Id | undefined;
  for (;;) {
    signal.throwIfAborted();
    const batch = await repository.scan(limit, after);
    if (batch.length > 0) yield batch;
    if (batch.length < limit) return;
    after = batch.at(-1)?.record.id;
    limit = nextLimit(batch);
  }
}

/** As many records as fill a batch, if they are like the last ones; growing in steps. */
function nextLimit(batch: Batch<Entity>): number {
  const text = JSON.stringify(batch).length;
  const fitting = Math.floor((batch.length * batchText) / text);
  return Math.max(1, Math.min(fitting, batch.length * 4, batchRecords.most));
}
