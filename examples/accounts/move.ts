// Moves the posts of an imported user to an account that could not claim them, because it had a user already:
// npm run move -- USER-ID ada@example.com

import { openDatabase } from './accounts.ts';
import { openClaims } from './claims.ts';
import { folder, mongodb } from './settings.ts';
import { openBlog } from './store.ts';

const [from, email] = process.argv.slice(2);
if (from === undefined || email === undefined) {
  console.error('Usage: npm run move -- USER-ID EMAIL');
  process.exit(2);
}
using database = openDatabase(folder);
const claims = openClaims(database);
const account = database.prepare('SELECT id FROM user WHERE email = ?').get(email.toLowerCase());
if (account === undefined) {
  console.error(`No account has the address ${email}.`);
  process.exit(1);
}
const { store, rostrum } = await openBlog(folder, mongodb);
const authorId = claims.subjectOf(String(account.id));
let count = 0;
for await (const { record } of rostrum.posts.all({ filter: { authorId: from } })) {
  await rostrum.posts.patch(record.id, { authorId });
  count++;
}
await store.close();
console.log(`Moved ${count} ${count === 1 ? 'post' : 'posts'} to ${email}.`);
