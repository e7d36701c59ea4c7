import { parseArgs } from 'node:util';
import { storeKinds } from './workspace.ts';

const full = {
  /** Rounds with new processes. */
  rounds: 3,
  /** Turns of each contestant in a round. */
  turns: 2,
  /**
   * Milliseconds in which a server gets warm with requests of one kind. After one second a request
   * still takes twice what it takes after three: V8 compiles what is used most again and again.
   */
  warmMs: 4000,
  /** Milliseconds of a turn with many connections, and of one with one connection. */
  busyMs: 800,
  singleMs: 300,
  /** The run ends with an error after this time. */
  boundMinutes: 90,
};

/** Less of everything: to see that it runs, not to know how fast. */
const quick: typeof full = {
  rounds: 2,
  turns: 2,
  warmMs: 300,
  busyMs: 250,
  singleMs: 100,
  boundMinutes: 5,
};

export type Options = ReturnType<typeof readOptions>;

export function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      /** `rostrum/fetch` beside `node:http`, and nothing else. */
      fetch: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      /** The one store that is wanted; all of them when absent. */
      store: { type: 'string' },
      /** The main.js of another build, which the program is measured beside. */
      against: { type: 'string' },
      /** POST with three declared fields beside POST without. */
      fields: { type: 'boolean', default: false },
      /** Lists by declared fields, over 100,000 posts. */
      lists: { type: 'boolean', default: false },
      /** What somebody would pick instead, on SQLite. */
      peers: { type: 'boolean', default: false },
    },
  });
  const stores = storeKinds.filter((kind) => (values.store ?? kind) === kind);
  if (stores.length === 0) throw new Error(`--store is one of ${storeKinds.join(', ')}.`);
  const sizes = values.quick ? quick : full;
  const rounds = Number(values.rounds ?? sizes.rounds);
  const { fetch: onlyFetch, fields: withDeclaredFields, against, peers, lists } = values;
  const isFull = args.length === 0;
  const modes = { onlyFetch, withDeclaredFields, against, peers, lists };
  return { ...sizes, rounds, stores, isFull, ...modes };
}
