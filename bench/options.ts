import { parseArgs } from 'node:util';
import { storeKinds } from './workspace.ts';

const full = {
  /** The number of rounds, each with new processes. */
  rounds: 3,
  /** Measurements ("turns") of each server per round. */
  turns: 2,
  /**
   * Warm-up time for each kind of request in milliseconds. After one second, requests still take twice as
   * long as after three, because V8 keeps optimizing hot code.
   */
  warmMs: 4000,
  /** Milliseconds per turn with many connections, and with a single one. */
  busyMs: 800,
  singleMs: 300,
  /** The run fails after this time. */
  boundMinutes: 90,
};

/** A short run, only to check that everything works. */
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
      /** Only compares `rostrum/fetch` and MCP with `node:http`. */
      interfaces: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      /** Measures only this store. */
      store: { type: 'string' },
      /** The main.js of another build to compare with. */
      against: { type: 'string' },
      /** Compares POST with and without three declared fields. */
      fields: { type: 'boolean', default: false },
      /** Measures each filter and sort of lists. */
      lists: { type: 'boolean', default: false },
      /** The number of posts for `--lists`. */
      posts: { type: 'string', default: '100000' },
      /** Measures the search example, with 100,000 posts. */
      search: { type: 'boolean', default: false },
      /** Compares with alternatives to Rostrum on SQLite. */
      peers: { type: 'boolean', default: false },
    },
  });
  const stores = storeKinds.filter((kind) => (values.store ?? kind) === kind);
  if (stores.length === 0) throw new Error(`--store is one of ${storeKinds.join(', ')}.`);
  const sizes = values.quick ? quick : full;
  const rounds = Number(values.rounds ?? sizes.rounds);
  const { interfaces, fields: withDeclaredFields, against, peers, lists, search } = values;
  const posts = Number(values.posts);
  const isFull = args.length === 0;
  const modes = { interfaces, withDeclaredFields, against, peers, lists, search };
  return { ...sizes, rounds, stores, posts, isFull, ...modes };
}
