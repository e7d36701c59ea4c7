import { parseArgs } from 'node:util';
import { storeKinds } from './workspace.ts';

const full = {
  /** Rounds that count. */
  rounds: 5,
  /** Turns of each contestant in a round with new processes. */
  turns: 2,
  /**
   * Rounds and turns of `features`, where a few percent are looked for. A machine may change its
   * speed within seconds: many short turns compare what lies close together.
   */
  features: { rounds: 9, turns: 16, turnMs: 200 },
  /**
   * Milliseconds in which a server gets warm with requests of one kind. After one second a request
   * still takes twice what it takes after three: V8 compiles what is used most again and again.
   */
  warmMs: 4000,
  /** Milliseconds of a turn with many connections, and of one with one connection. */
  busyMs: 800,
  singleMs: 300,
  /** Posts in the large store. */
  many: 1_000_000,
  /** The run ends with an error after this time. */
  boundMinutes: 90,
};

/** Less of everything: to see that it runs, not to know how fast. */
const quick: typeof full = {
  rounds: 2,
  turns: 2,
  features: { rounds: 3, turns: 4, turnMs: 150 },
  warmMs: 300,
  busyMs: 250,
  singleMs: 100,
  many: 50_000,
  boundMinutes: 5,
};

export type Options = ReturnType<typeof readOptions>;

export function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      /** The one measurement that is wanted; all of them when absent. */
      only: { type: 'string' },
      /** How many rounds `http` has. */
      rounds: { type: 'string' },
      /** The one store that is wanted; all of them when absent. */
      store: { type: 'string' },
      /** How many posts the large store has; then the run is no full one. */
      many: { type: 'string' },
      /** The main.js of a build to measure; one of the sources is made when absent. */
      program: { type: 'string' },
      /** The main.js of an older build, which `features` puts beside this one. */
      before: { type: 'string' },
    },
  });
  const stores = storeKinds.filter((kind) => (values.store ?? kind) === kind);
  if (stores.length === 0) throw new Error(`--store is one of ${storeKinds.join(', ')}.`);
  const sizes = values.quick ? quick : full;
  const many = Number(values.many ?? sizes.many);
  const rounds = Number(values.rounds ?? sizes.rounds);
  const isPart = values.many !== undefined || values.rounds !== undefined;
  return { ...values, ...sizes, many, rounds, stores, quick: values.quick || isPart };
}
