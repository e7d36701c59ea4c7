import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createMemoryStore } from '../../../../src/adapters/memory/index.ts';
import type { Store } from '../../../../src/index.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** One call of `users.list`. */
interface ListCall {
  readonly limit: number;
  readonly total: boolean;
  /** How many records of earlier calls somebody still held when it came; with `weigh` alone. */
  readonly held?: number;
}

/** A store that notes how its users are listed, and whether what it gave is let go of. */
export function countingStore({ weigh = false } = {}): {
  readonly store: Store;
  readonly calls: ListCall[];
} {
  const store = createMemoryStore();
  const calls: ListCall[] = [];
  const given: WeakRef<object>[] = [];
  async function countHeld(): Promise<number> {
    await setImmediate(); // A WeakRef keeps its object to the end of the turn that it was made in.
    collectGarbage();
    return given.filter((record) => record.deref() !== undefined).length;
  }
  const { list } = store.users;
  store.users.list = async (filter, request) => {
    const call = { limit: request.limit, total: request.total ?? false };
    calls.push(weigh ? { ...call, held: await countHeld() } : call);
    const page = await list.call(store.users, filter, request);
    if (weigh) given.push(...page.items.map((item) => new WeakRef(item.record)));
    return page;
  };
  return { store, calls };
}
