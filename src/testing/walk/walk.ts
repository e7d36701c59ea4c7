import { createMemoryStore } from '../../adapters/memory/index.ts';
import { isRostrumError } from '../../domain/errors.ts';
import type { Id } from '../../domain/records/record.ts';
import type { Store } from '../../ports/store.ts';
import { differenceOf, expectEqual, fail, quote } from '../assertions.ts';
import { followEvents, logOf } from '../events.ts';
import { user } from '../fixtures.ts';
import { insert } from '../lists/lists.ts';
import {
  declaredFields,
  defaultWalks,
  type Opened,
  type StoreContract,
  type Suite,
} from '../suite.ts';
import { Watch } from '../watch.ts';
import { type Call, RandomCalls, Refusal } from './walk-calls.ts';

const options = { declaredFields };
const callsPerRestart = 80;
const callsAfterClose = 50;
/** How many calls of a walk a failure shows. */
const shownCalls = 5;

type Reopen = StoreContract['reopen'];
type Step = Call | 'restart';

/**
 * Makes the same random calls on the store and on the memory store, and compares their results. The calls
 * combine what other tests check one by one, such as conditions, nulls and ids that are created again.
 *
 * @param reopen opens the data of the closed store again, several times in a walk
 */
export function describeWalks({ contract, test }: Suite, reopen?: Reopen): void {
  const { walks: { seeds, calls } = defaultWalks } = contract;
  const restarts = reopen ? ' and restarts' : '';
  for (const seed of seeds) {
    const title = `seed ${seed}: a random walk of ${calls} calls${restarts} matches the memory store`;
    test(title, (store, context) => walk(contract, seed, calls, store, context, reopen));
  }
}

async function walk(
  contract: StoreContract,
  seed: number,
  count: number,
  store: Store,
  { opened, watch }: Opened,
  reopen: Reopen,
): Promise<void> {
  const memory = createMemoryStore(options);
  const log = logOf(memory);
  const { next: start } = await log.read(1);
  const follower = contract.withoutEvents === undefined ? await followEvents(store) : undefined;
  const expectEvents = async () => {
    const last = user();
    await insert(memory.users, [last]);
    const { events } = await log.read(Number.MAX_SAFE_INTEGER, start);
    if (follower) await follower.expect(events, last);
    else await insert(store.users, [last]);
  };
  const random = new RandomCalls(seed, memory, contract.withoutTransfer === undefined);
  const steps: Step[] = [];
  let current = opened;

  const compare = async (call: Call) => {
    steps.push(call);
    const name = `call ${steps.length} of seed ${seed}`;
    const expected = await resultOf(name, call, memory);
    const actual = await resultOf(name, call, store);
    const fault = differenceOf(`the result of ${name}`, actual, expected);
    if (fault === undefined) return;
    const prefix = await prefixThatFails(contract, steps, reopen);
    fail(`${fault}.\n${prefix}\n${await lastCalls(steps, differingIds(expected, actual))}`);
  };
  const close = async () => {
    await expectEvents();
    await current.close();
    const calls = random.sweep();
    for (let n = 0; n < callsAfterClose; n++) calls.push(await random.next());
    for (const call of calls) {
      await resultOf('a call', call, createMemoryStore(options));
      const result = await resultOf('a call after close', call, watch.over(current));
      const expected = { code: 'store-unavailable', details: { outcome: 'none' } };
      expectEqual('the result of a call after close', result, expected);
    }
  };

  try {
    for (let n = 1; n <= count; n++) {
      await compare(await random.next());
      if (n % 7 === 0) await follower?.read(1 + (n % 5));
      if (reopen === undefined || n % callsPerRestart > 0) continue;
      await close();
      steps.push('restart');
      current = await reopen(opened, options);
      store = watch.over(current);
      await follower?.restarted(store);
      for (const call of random.sweep()) await compare(call);
    }
    for (const call of random.sweep()) await compare(call);
    await close();
  } finally {
    if (current !== opened) await current.close();
  }
}

/** Makes parts of a walk again, to find the shortest one after which its last call still fails. */
async function prefixThatFails(
  { another, open }: StoreContract,
  steps: readonly Step[],
  reopen: Reopen,
): Promise<string> {
  const fails = async (length: number): Promise<boolean> => {
    const memory = createMemoryStore(options);
    const opened = await open(options);
    const second = reopen ? undefined : await another?.(opened, options);
    const handles = second ? [opened, second] : [opened];
    let store = new Watch().over(opened, second);
    try {
      for (const step of [...steps.slice(0, length), ...steps.slice(-1)]) {
        if (step === 'restart') {
          await handles.at(-1)?.close();
          const again = await reopen?.(opened, options);
          if (again) handles.push(again);
          store = new Watch().over(again ?? opened);
          continue;
        }
        const expected = await resultOf('a call', step, memory);
        if (differenceOf('', await resultOf('a call', step, store), expected)) return true;
      }
      return false;
    } catch {
      return true;
    } finally {
      for (const handle of handles.reverse()) await handle.close();
    }
  };
  let [low, high] = [0, steps.length - 1];
  if (!(await fails(high))) return 'The same calls did not fail again.';
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await fails(middle)) high = middle;
    else low = middle + 1;
  }
  return `It also fails after the first ${high} calls.`;
}

/** Describes the last calls that changed or named one of these records, as the memory store made them. */
async function lastCalls(steps: readonly Step[], ids: readonly Id[]): Promise<string> {
  const memory = createMemoryStore(options);
  const watch = new Watch();
  const watched = watch.over(memory);
  const { users, posts } = memory;
  const state = async () =>
    quote(await Promise.all(ids.flatMap((id) => [users.get(id), posts.get(id)])));
  const touching: string[] = [];
  for (const [n, step] of steps.entries()) {
    if (step === 'restart') continue;
    const before = await state();
    const result = await resultOf('a call', step, watched);
    const isChange = !/\.(?:get|lastVersion|list|scan)\(/.test(watch.last);
    const isNamed = ids.some((id) => watch.last.includes(quote(id)));
    if ((isChange && isNamed) || (await state()) !== before)
      touching.push(`\n  ${n + 1}. ${watch.last}: ${quote(result)}`);
  }
  return `The last calls that touched ${ids.map(quote).join(', ')}:${touching.slice(-shownCalls).join('')}\n`;
}

/** Returns the ids of the records in which two results differ, or else those of all records in them. */
function differingIds(one: unknown, other: unknown): Id[] {
  const [found, others] = [one, other].map((result) => {
    const records = new Map<Id, string>();
    JSON.stringify(result, (_, value) => {
      if (typeof value?.id === 'string') records.set(value.id, JSON.stringify(value));
      return value;
    });
    return records;
  }) as [Map<Id, string>, Map<Id, string>];
  const all = [...new Set([...found.keys(), ...others.keys()])];
  const differing = all.filter((id) => found.get(id) !== others.get(id));
  return differing.length > 0 ? differing : all;
}

/** Returns what a call returned or ended in, in a form that can be compared. */
async function resultOf(name: string, call: Call, store: Store): Promise<unknown> {
  try {
    return plain(await call(store));
  } catch (error) {
    if (error instanceof Refusal) return { refused: plain(error.cause) };
    if (!isRostrumError(error)) fail(`${name} ended in ${quote(error)}`, error);
    const { code, details } = error;
    // Several unique fields can be taken; a store names any one of them.
    if (code === 'field-taken') return { code };
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
