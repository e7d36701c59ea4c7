import { runInLockStep } from './lock-step.ts';
import { describeSubjects } from './subjects.ts';

await describeSubjects(
  'random calls have the same outcome as on the memory store',
  async (subject) => {
    await runInLockStep(subject, { runs: 10, commands: 60 });
  },
);
