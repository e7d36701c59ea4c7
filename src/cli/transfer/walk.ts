import type { Entity, Id, Versioned } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';

/** Some records of a kind, by id. */
export type Batch<R extends Entity> = readonly Versioned<R>[];

export type Scanner<R extends Entity> = Pick<Repository<R, never, never>, 'scan'>;

/**
 * A batch has about this much JSON, where its records are like the last ones. Where they are not,
 * it is the most records that counts: 1 MiB of JSON may become 22 MiB of objects (`[{},{},…`).
 */
const batchText = 1024 * 1024;
const batchRecords = { first: 20, most: 64 };

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
  return Math.max(1, Math.min(fitting, batch.length * 2, batchRecords.most));
}
