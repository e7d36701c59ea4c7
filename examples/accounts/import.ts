// Imports users and posts from another blog, and lets the users claim them by their addresses:
// npm run import -- blog.xml --transform wordpress.ts

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from './accounts.ts';
import { openClaims } from './claims.ts';
import { rostrum } from './rostrum.ts';
import { folder, mongodb, storeUrl } from './settings.ts';
import { openBlog, type Post } from './store.ts';

const own = ['--markdown', '--pages'];
const args = process.argv.slice(2).filter((arg) => !own.includes(arg));
const has = (flag: string) => process.argv.includes(flag);
const format = has('--markdown') ? 'markdown' : undefined;
if (args.length === 0) {
  console.error('Usage: npm run import -- FILE [--markdown] [--pages] [options of rostrum import]');
  process.exit(2);
}

const staging = mkdtempSync(join(tmpdir(), 'blog-import-'));
process.once('exit', () => rmSync(staging, { recursive: true, force: true }));

// First into an empty store, so that every record in it comes from the file, even if members write posts meanwhile.
await (await openBlog(staging)).store.close();
console.log('Reading the file into a temporary store:');
rostrum('import', ...args, '--store', `sqlite:${join(staging, 'blog.db')}`, '--keep-ids');
if (has('--dry-run')) process.exit();
const staged = await openBlog(staging);
const blog = await openBlog(folder, mongodb);

interface Records<R> {
  all(): AsyncIterable<{ readonly record: R }>;
}

/** The records that the blog does not have: an import never changes one. */
async function missing<R extends { readonly id: string }>(from: Records<R>, to: Records<R>) {
  const known = new Set<string>();
  for await (const { record } of to.all()) known.add(record.id);
  const records: R[] = [];
  for await (const { record } of from.all()) if (!known.has(record.id)) records.push(record);
  return records;
}

/** Makes a page a draft, because the blog lists all public posts. */
const draftOf = ({ type, publishedAt: at }: Post) =>
  type === 'page' && at !== null && !has('--pages') && { publishedAt: null, originalDate: at };

const users = await missing(staged.rostrum.users, blog.rostrum.users);
const posts = await missing<Post>(staged.rostrum.posts, blog.rostrum.posts);
if (posts.some(draftOf))
  console.log('Public pages become drafts. Use --pages to add them as posts.');
const path = join(staging, 'staged.json');
const records = {
  // The addresses are in the claims. Rostrum does not need them.
  users: users.map(({ email, ...user }) => user),
  posts: posts.map((post) => ({ format, ...post, ...draftOf(post) })),
};
writeFileSync(path, JSON.stringify(records));
const skip = has('--skip-invalid') ? ['--skip-invalid'] : [];
if (users.length + posts.length > 0) {
  console.log('Adding to the blog what it does not have:');
  rostrum('import', path, '--store', storeUrl, '--keep-ids', ...skip);
} else console.log('The blog has all of them already.');

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
