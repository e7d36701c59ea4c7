// Imports users and posts from another blog, and lets the users claim them by their addresses:
// npm run import -- blog.xml --transform wordpress.ts

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRostrumError } from 'rostrum';
import { openDatabase } from './accounts.ts';
import { openClaims } from './claims.ts';
import { rostrum } from './rostrum.ts';
import { folder, mongodb, storeUrl } from './settings.ts';
import { openBlog } from './store.ts';

const args = process.argv.slice(2).filter((arg) => arg !== '--markdown');
const format = process.argv.includes('--markdown') ? 'markdown' : undefined;
if (args.length === 0) {
  console.error('Usage: npm run import -- FILE [--markdown] [options of rostrum import]');
  process.exit(2);
}

const staging = mkdtempSync(join(tmpdir(), 'blog-import-'));
process.once('exit', () => rmSync(staging, { recursive: true, force: true }));

// First into an empty store, so that every record in it comes from the file, even if members write posts meanwhile.
await (await openBlog(staging)).store.close();
rostrum('import', ...args, '--store', `sqlite:${join(staging, 'blog.db')}`, '--keep-ids');
const staged = await openBlog(staging);
const blog = await openBlog(folder, mongodb);

/** The records that the blog does not have: an import never changes one. */
async function missing<R extends { readonly id: string }>(
  service: { all(): AsyncIterable<{ readonly record: R }> },
  get: (id: string) => Promise<unknown>,
): Promise<R[]> {
  const records: R[] = [];
  for await (const { record } of service.all()) {
    const found = await get(record.id).catch((error) => {
      if (isRostrumError(error, 'user-not-found') || isRostrumError(error, 'post-not-found'))
        return;
      throw error;
    });
    if (found === undefined) records.push(record);
  }
  return records;
}

const users = await missing(staged.rostrum.users, blog.rostrum.users.get);
const posts = await missing(staged.rostrum.posts, blog.rostrum.posts.get);
const path = join(staging, 'staged.json');
writeFileSync(
  path,
  JSON.stringify({
    // The addresses are in the claims. Rostrum does not need them.
    users: users.map(({ email, ...user }) => user),
    posts: posts.map((post) => ({ format, ...post })),
  }),
);
if (users.length + posts.length > 0) rostrum('import', path, '--store', storeUrl, '--keep-ids');

using database = openDatabase(folder);
const claims = openClaims(database);
/** Accounts that have confirmed an address: they cannot claim a user any more. */
const hasAccount = (address: string) => {
  const query = "SELECT 1 FROM sqlite_schema WHERE name = 'user'";
  if (database.prepare(query).get() === undefined) return false;
  const account = database.prepare('SELECT 1 FROM user WHERE email = ? AND emailVerified');
  return account.get(address.toLowerCase()) !== undefined;
};
let count = 0;
for await (const { record } of staged.rostrum.users.all()) {
  const { id, email } = record;
  if (email === null) continue;
  if (hasAccount(email)) console.log(`${email} has an account: npm run move -- ${id} ${email}`);
  else if (claims.add(email, id)) count++;
}
await Promise.all([staged.store.close(), blog.store.close()]);
console.log(
  `${count} ${count === 1 ? 'user' : 'users'} can be claimed by signing up with their address.`,
);
