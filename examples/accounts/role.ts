// Gives an account a role, or bans it: npm run role -- ada@example.com editor

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { roles } from './roles.ts';

const [email = '', role = ''] = process.argv.slice(2);
const isBan = role === 'banned';
if (!isBan && !Object.hasOwn(roles, role)) {
  console.error(`Usage: npm run role -- EMAIL ${Object.keys(roles).join('|')}|banned`);
  process.exit(2);
}
const path = join(process.env.DATA ?? 'data', 'accounts.db');
if (!existsSync(path)) {
  console.error('There are no accounts yet. Start the blog and sign up first.');
  process.exit(1);
}
using database = new DatabaseSync(path, { timeout: 5000 });
const change = database.prepare('UPDATE user SET role = ?, banned = ? WHERE email = ?');
if (change.run(isBan ? 'user' : role, Number(isBan), email.toLowerCase()).changes === 0) {
  console.error(`No account has the address ${email}.`);
  process.exitCode = 1;
} else {
  console.log(isBan ? `${email} is now banned.` : `${email} now has the role ${role}.`);
}
