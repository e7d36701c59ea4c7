import { runModel, type Subject } from './run-model.ts';
import { describeSubjects } from './subjects.ts';

async function holds(open: Subject['open'], attach: Subject['attach']): Promise<void> {
  await runModel({ open, attach }, { runs: 10, commands: 60 });
}

await describeSubjects('random calls against a model of the contract', holds);
