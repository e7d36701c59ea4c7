// Which account an imported user belongs to. `npm run import` writes the address of each imported user here.
// Rostrum's own field `email` is never matched, because anybody can set it.

import type { DatabaseSync } from 'node:sqlite';

export type Claims = ReturnType<typeof openClaims>;

export function openClaims(database: DatabaseSync) {
  database.exec(`CREATE TABLE IF NOT EXISTS claim
    (address TEXT PRIMARY KEY, subject TEXT NOT NULL UNIQUE, account TEXT UNIQUE) STRICT`);
  const insert = database.prepare('INSERT OR IGNORE INTO claim (address, subject) VALUES (?, ?)');
  const update = database.prepare(
    'UPDATE OR IGNORE claim SET account = ? WHERE address = ? AND account IS NULL',
  );
  const select = database.prepare('SELECT subject FROM claim WHERE account = ?');
  return {
    /** Lets the owner of an address claim an imported user. Returns false if it could be claimed already. */
    add: (address: string, subject: string) =>
      insert.run(address.toLowerCase(), subject).changes > 0,

    /** Gives an account the user of an address that it has verified. Each can be claimed once. */
    take: (account: string, address: string) =>
      update.run(account, address.toLowerCase()).changes > 0,

    /** Returns the id of an account's user: the claimed one, or else the id of the account. */
    subjectOf: (account: string) => String(select.get(account)?.subject ?? account),
  };
}
