// Measures the cost of HTTP in Rostrum, relative to other servers in the same run.
//
//   npm run bench
//   npm run bench -- --quick                      only checks that it runs
//   npm run bench -- --store memory --rounds 2
//   npm run bench -- --interfaces                 compares rostrum/fetch and MCP with node:http
//   npm run bench -- --fields                     compares POST with three declared fields and with none
//   npm run bench -- --lists                      lists by declared fields, with 100,000 posts
//   npm run bench -- --search                     searches with 100,000 posts, in the search example
//   npm run bench -- --peers                      compares with Feathers, json-server and PocketBase
//   npm run bench -- --against PATH/main.js       compares with another build, for example an older one

import { measureHttp } from './http.ts';
import { measureInterfaces } from './interfaces.ts';
import { measureLists } from './lists.ts';
import { leaveServersCore, machineFacts } from './machine.ts';
import { readOptions } from './options.ts';
import { measurePair } from './pair.ts';
import { measurePeers } from './peers/index.ts';
import { publish, say } from './results.ts';
import { measureSearch } from './search.ts';
import { Workspace } from './workspace.ts';

const options = readOptions(process.argv.slice(2));
process.on('SIGINT', () => process.exit(130));
const bound = setTimeout(() => {
  console.error(`Given up after ${options.boundMinutes} minutes.`);
  process.exit(1);
}, options.boundMinutes * 60_000);

if (options.interfaces) {
  console.log(`${machineFacts().slice(0, 4).join('; ')}\n\n${await measureInterfaces(options)}`);
  process.exit();
}
if (!options.lists) leaveServersCore(); // A list runs in this process and its worker.
const facts = machineFacts();
if (!options.isFull) facts.push('a part of a run: the figures mean little');
for (const fact of facts) console.log(`- ${fact}`);
await using workspace = new Workspace();
const isPair = options.withDeclaredFields || options.against !== undefined;
const measure = isPair
  ? measurePair
  : options.peers
    ? measurePeers
    : options.lists
      ? measureLists
      : options.search && measureSearch;
if (measure) {
  console.log(`\n${await measure(options, workspace)}`);
  process.exit();
}
const report = await measureHttp(options, workspace);
console.log(`\n${report.markdown}`);
say(`the data is in ${publish(report, facts, options.isFull)}`);
clearTimeout(bound);
