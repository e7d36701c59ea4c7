// Sign-up, sign-in, roles and bans: better-auth, on an SQLite file of its own.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { admin, jwt } from 'better-auth/plugins';
import type { TokenVerifier } from 'rostrum/http';
import { member, roles } from './roles.ts';

/** Opens the accounts in a folder, for a site whose pages are at `url`. */
export async function openAccounts(folder: string, url: string) {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, 'accounts.db'), { timeout: 5000 });
  const options = {
    baseURL: url,
    trustedOrigins: [url.replace('//localhost', '//127.0.0.1')],
    secret: process.env.BETTER_AUTH_SECRET ?? secretIn(join(folder, 'secret')),
    database,
    emailAndPassword: { enabled: true },
    plugins: [
      // Adds a role to each account, and lets an account with the role `admin` ban others.
      admin(),
      jwt({
        jwt: {
          issuer: url,
          audience: `${url}/api/v1`,
          expirationTime: '5m',
          // Rostrum needs only `sub`, the account's id. So no address is in the token.
          definePayload: () => ({}),
        },
      }),
    ],
  } satisfies BetterAuthOptions;
  await (await getMigrations(options)).runMigrations();
  const auth = betterAuth(options);
  const accounts = database.prepare('SELECT role, banned FROM user WHERE id = ?');

  /** Tells whose token it is. A role or a ban counts from the next request. */
  const verifier: TokenVerifier = {
    async authenticate(token) {
      const { payload } = await auth.api.verifyJWT({ body: { token } });
      const account = payload && accounts.get(payload.sub);
      if (!account || account.banned) return { refused: 'account' };
      const scopes = new Set(roles[String(account.role)] ?? member);
      return { name: payload.sub, subject: payload.sub, scopes };
    },
  };
  return { auth, database, verifier };
}

/** Returns the secret that better-auth encrypts its keys with. The first start makes one. */
function secretIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
