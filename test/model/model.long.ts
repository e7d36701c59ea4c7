import { runInLockStep } from './lock-step.ts';
import { describeSubjects } from './subjects.ts';

/** Calls on each store, and by each way. */
const wanted = 10_000;

await describeSubjects(
  `${wanted} random calls in lock step with a memory store`,
  async (subject, name) => {
    const start = performance.now();
    const from = Number(process.env.MODEL_SEED ?? Math.trunc(Math.random() * 2 ** 31));
    for (let ran = 0, seed = from; ran < wanted; seed++) {
      ran += await runInLockStep(subject, { runs: 20, commands: 120, seed });
      // A line each few seconds says how far it is, and each seed.
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`      ${name}: ${ran} calls, ${seconds} s, seed ${seed} passed`);
    }
  },
);
