// Backs the blog up while it runs: npm run backup -- FOLDER

import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backup } from 'node:sqlite';
import { openDatabase } from './accounts.ts';
import { rostrum } from './rostrum.ts';
import { folder, mongodb, storeUrl } from './settings.ts';

const [target] = process.argv.slice(2);
if (target === undefined) {
  console.error('Usage: npm run backup -- FOLDER');
  process.exit(2);
}
if (existsSync(target)) {
  console.error(`${target} exists. Name a new folder: two backups must not mix.`);
  process.exit(1);
}
mkdirSync(target);
if (mongodb === undefined) rostrum('backup', join(target, 'blog.db'), '--store', storeUrl);
using database = openDatabase(folder);
await backup(database, join(target, 'accounts.db'));
// After the posts: an image that a post uses is there for a day at least.
for (const name of ['images', 'secret', 'operator-key']) {
  const source = join(folder, name);
  if (existsSync(source)) cpSync(source, join(target, name), { recursive: true });
}
console.log(`The backup is in ${target}.`);
