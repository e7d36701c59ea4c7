import { runInLockStep } from './lock-step.ts';
import { describeSubjects } from './subjects.ts';

/** The number of calls on each store, directly and over HTTP. */
const wanted = 10_000;

await describeSubjects(
  `${wanted} random calls have the same outcome as on the memory store`,
  async (subject, name) => {
    const start = performance.now();
    const from = Number(process.env.MODEL_SEED ?? Math.trunc(Math.random() * 2 ** 31));
    for (let ran = 0, seed = from; ran < wanted; seed++) {
      ran += await runInLockStep(subject, { runs: 20, commands: 120, seed });
      // Print progress and the seed every few seconds.
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      console.log(`      ${name}: ${ran} calls, ${seconds} s, seed ${seed} passed`);
    }
  },
);
