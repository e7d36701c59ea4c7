// 10,000 calls a store, by each way. A line each few seconds says how far it is, and each seed.

import { runModel, type Subject } from './run-model.ts';
import { describeSubjects } from './subjects.ts';

const wanted = 10_000;

async function holds(open: Subject['open'], attach: Subject['attach'], name: string) {
  const start = performance.now();
  const from = Number(process.env.MODEL_SEED ?? Math.trunc(Math.random() * 2 ** 31));
  for (let ran = 0, seed = from; ran < wanted; seed++) {
    ran += await runModel({ open, attach }, { runs: 20, commands: 120, seed });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`      ${name}: ${ran} calls, ${seconds} s, seed ${seed} passed`);
  }
}

await describeSubjects(`${wanted} random calls against a model of the contract`, holds);
