// Measurements, as ratios to what stands beside in the same run on the same machine.
//
//   node bench/index.ts                        all of them
//   node bench/index.ts --quick --only pages   one of them, with little of everything

import { measureHttp } from './http.ts';
import { busiestClient } from './load.ts';
import { machineFacts } from './machine.ts';
import { readOptions } from './options.ts';
import { measurePages } from './pages.ts';
import { say } from './progress.ts';
import { Workspace } from './workspace.ts';
import { measureWrites } from './writes.ts';

const measurements = { http: measureHttp, writes: measureWrites, pages: measurePages };

const { extent, only } = readOptions(process.argv.slice(2));
const chosen = Object.entries(measurements).filter(([name]) => (only ?? name) === name);
if (chosen.length === 0) {
  console.error(`There is no "${only}"; there are: ${Object.keys(measurements).join(', ')}.`);
  process.exit(2);
}

process.on('SIGINT', () => process.exit(130));
const bound = setTimeout(() => {
  console.error(`Given up after ${extent.boundMs / 60_000} minutes.`);
  process.exit(1);
}, extent.boundMs);

for (const fact of machineFacts()) console.log(`- ${fact}`);
if (extent.quick) console.log('- a quick run: the figures mean little');
await using workspace = new Workspace();
for (const [name, measure] of chosen) {
  console.log(`\n## ${name}\n`);
  await measure(extent, workspace);
}
const busy = busiestClient();
if (busy > 0)
  console.log(`\nThe client kept a processor busy to ${Math.round(busy * 100)} % at most.`);
say('done');
clearTimeout(bound);
