// Measurements, as ratios to what stands beside in the same run on the same machine.
//
//   npm run bench                          all of them
//   npm run bench -- --only http --quick   one of them, to see that it runs

import { measureFeatures } from './features.ts';
import { measureHttp } from './http.ts';
import { leaveServersCore, machineFacts } from './machine.ts';
import { readOptions } from './options.ts';
import { measurePages } from './pages.ts';
import { say } from './progress.ts';
import { publish } from './results.ts';
import { Workspace } from './workspace.ts';

const measurements = {
  http: measureHttp,
  features: measureFeatures,
  pages: measurePages,
};

const options = readOptions(process.argv.slice(2));
const { only, quick, boundMinutes } = options;
const chosen = Object.entries(measurements).filter(([name]) => (only ?? name) === name);
if (chosen.length === 0) {
  console.error(`There is no "${only}"; there are: ${Object.keys(measurements).join(', ')}.`);
  process.exit(2);
}

process.on('SIGINT', () => process.exit(130));
const bound = setTimeout(() => {
  console.error(`Given up after ${boundMinutes} minutes.`);
  process.exit(1);
}, boundMinutes * 60_000);

leaveServersCore();
const facts = machineFacts();
if (quick) facts.push('a quick run: the figures mean little');
for (const fact of facts) console.log(`- ${fact}`);
await using workspace = new Workspace();
for (const [name, measure] of chosen) {
  const report = await measure(options, workspace);
  console.log(`\n## ${name}\n\n${report.markdown}`);
  say(`${name}: data is in ${publish(name, report, facts, quick)}`);
}
clearTimeout(bound);
