import { createMemoryStore } from '../adapters/memory/index.ts';
import { isRostrumError } from '../domain/errors.ts';
import type { Store } from '../ports/store.ts';
import { expectEqual, fail, quote } from './assertions.ts';
import { followEvents, logOf } from './events.ts';
import { declaredFields, defaultWalks, type StoreContract, type Suite } from './suite.ts';
import { type Call, RandomCalls, Refusal } from './walk-calls.ts';

/**
 * Makes the same random calls on the store and on the memory store, and compares their results. The calls
 * combine what other tests check one by one, such as conditions, nulls and ids that are created again.
 */
export function describeWalks({ contract, test }: Suite): void {
  const { walks: { seeds, calls } = defaultWalks } = contract;
  for (const seed of seeds) {
    test(`seed ${seed}: a random walk of ${calls} calls matches the memory store`, (store) =>
      walk(store, contract, seed, calls));
  }
}

async function walk(
  store: Store,
  { withoutEvents, withoutTransfer }: StoreContract,
  seed: number,
  count: number,
): Promise<void> {
  const memory = createMemoryStore({ declaredFields });
  const log = logOf(memory);
  const { next: start } = await log.read(1);
  const follower = withoutEvents === undefined ? await followEvents(store) : undefined;
  const random = new RandomCalls(seed, memory, withoutTransfer === undefined);
  for (let n = 1; n <= count; n++) {
    const call = await random.next();
    const name = `call ${n} of seed ${seed}`;
    const expected = await resultOf(name, call, memory);
    expectEqual(`the result of ${name}`, await resultOf(name, call, store), expected);
    if (n % 7 === 0) await follower?.read(1 + (n % 5));
  }
  await follower?.expect((await log.read(Number.MAX_SAFE_INTEGER, start)).events);
}

/** Returns what a call returned or ended in, in a form that can be compared. */
async function resultOf(name: string, call: Call, store: Store): Promise<unknown> {
  try {
    return plain(await call(store));
  } catch (error) {
    if (error instanceof Refusal) return { refused: plain(error.cause) };
    if (!isRostrumError(error)) fail(`${name} ended in ${quote(error)}`, error);
    const { code, details } = error;
    if (!('issues' in details)) return { code, details: plain(details) };
    return { code, issues: details.issues.map((issue) => `${issue.pointer} ${issue.code}`) };
  }
}

/** Replaces each `Versioned` with its values, and leaves out what is undefined. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('json' in value && 'record' in value) {
    return { ...value, record: value.record, json: JSON.parse(String(value.json)) };
  }
  const defined = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(defined.map(([key, part]) => [key, plain(part)]));
}
