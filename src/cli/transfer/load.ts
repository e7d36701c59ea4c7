import { isRostrumError } from '../../domain/errors.ts';
import { jsonEqual } from '../../domain/json.ts';
import type { Entity, Versioned } from '../../domain/record.ts';
import type { Repository } from '../../ports/repository.ts';
import type { Step } from './compare.ts';
import type { Batch } from './walk.ts';

export type Loader<R extends Entity> = Pick<Repository<R, never, never>, 'load'>;

/** The records of the source that the target has not, or has otherwise. */
export function differing<R extends Entity>({ source, there }: Step<R>): Batch<R> {
  return source.filter(({ record, version }) => {
    const stored = there.get(record.id);
    return stored?.version !== version || !jsonEqual(stored.record, record);
  });
}

/**
 * Loads all that can be. A record that is in conflict with what is there was read from a source
 * that changed on the way (a post before its author): it stays out, and is missed when all is
 * checked in the end.
 */
export async function loadAll<R extends Entity>(target: Loader<R>, batch: Batch<R>): Promise<void> {
  if (batch.length === 0) return;
  try {
    await target.load(batch);
  } catch (error) {
    const inConflict =
      isRostrumError(error, 'email-taken') || isRostrumError(error, 'invalid-record');
    if (!inConflict) throw error;
    if (batch.length === 1) return;
    const middle = Math.ceil(batch.length / 2);
    await loadAll(target, batch.slice(0, middle));
    await loadAll(target, batch.slice(middle) satisfies readonly Versioned<R>[]);
  }
}
