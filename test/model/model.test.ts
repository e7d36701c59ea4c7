import { runModel } from './run-model.ts';
import { describeSubjects } from './subjects.ts';

await describeSubjects('random calls against a model of the contract', async (subject) => {
  await runModel(subject, { runs: 10, commands: 60 });
});
