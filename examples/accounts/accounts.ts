// Sign-up, sign-in, mail, roles and bans: better-auth, on an SQLite file of its own.

import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { admin, jwt } from 'better-auth/plugins';
import { scopes } from 'rostrum';
import type { TokenVerifier } from 'rostrum/http';
import { openClaims } from './claims.ts';
import type { Site } from './layout.ts';
import type { SendMail } from './mail.ts';
import { member, roles } from './roles.ts';
import type { Blog } from './store.ts';

/** Opens the database of the accounts in a folder. */
export function openDatabase(folder: string): DatabaseSync {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, 'accounts.db'), { timeout: 5000 });
  database.exec('PRAGMA journal_mode = WAL');
  return database;
}

/** Opens the accounts in a folder. */
export async function openAccounts(folder: string, site: Site, send: SendMail, { users }: Blog) {
  const { title, url, signUp } = site;
  const database = openDatabase(folder);
  const claims = openClaims(database);
  const options = {
    baseURL: url,
    trustedOrigins: [url.replace('//localhost', '//127.0.0.1')],
    secret: process.env.BETTER_AUTH_SECRET ?? secretIn(join(folder, 'secret')),
    database,
    logger: { disableColors: true },
    // No mail contains a text that its recipient did not write, such as a name.
    emailAndPassword: {
      enabled: true,
      disableSignUp: signUp === 'closed',
      requireEmailVerification: true,
      revokeSessionsOnPasswordReset: true,
      // What sign-up returns for an address that has an account: the same as for any other.
      customSyntheticUser: ({ coreFields, additionalFields, id }) => {
        const fromAdmin = { role: 'user', banned: false, banReason: null, banExpires: null };
        return { ...coreFields, ...additionalFields, ...fromAdmin, id };
      },
      onExistingUserSignUp: ({ user }) =>
        send(
          user.email,
          `Your account at ${title}`,
          `Someone signed up at ${title} with this address, which has an account already.\nIf it was you, sign in, or choose a new password: ${url}/dashboard`,
        ),
      sendResetPassword: ({ user, token }) =>
        send(
          user.email,
          `A new password for ${title}`,
          `Choose a new password within an hour: ${url}/dashboard#/reset/${token}\nIf you didn't ask for this, ignore this mail.`,
        ),
    },
    emailVerification: {
      sendOnSignUp: true,
      // The link is a form that asks for the password. So neither a mail scanner nor the owner of the address
      // can confirm an account that somebody else created for it.
      sendVerificationEmail: ({ user, token }) =>
        send(
          user.email,
          `Confirm your address for ${title}`,
          `To confirm the address of your account, open this link within an hour, and enter your password: ${url}/dashboard#/verify/${token}\nIf you didn't sign up, ignore this mail.`,
        ),
      afterEmailVerification: async ({ id, email }) => {
        // An account that has a user keeps it.
        if (!(await exists(id))) claims.take(id, email);
      },
    },
    user: {
      deleteUser: {
        enabled: true,
        // First the user: without an account, nobody could delete it.
        beforeDelete: async ({ id }, request) => {
          const isAll = new URL(request?.url ?? url).searchParams.get('posts') === 'delete';
          const subject = claims.subjectOf(id);
          if (await exists(subject))
            await users.delete(subject, { posts: isAll ? 'delete' : 'keep' });
        },
      },
    },
    advanced: {
      ipAddress: { ipAddressHeaders: ['x-client-address'] },
      // Not awaited, because the time that a mail takes would show which addresses have an account.
      backgroundTasks: { handler: () => {} },
    },
    plugins: [
      // Adds a role to each account, and lets an account with the role `admin` ban others.
      admin(),
      jwt({
        jwt: {
          issuer: url,
          audience: `${url}/api/v1`,
          expirationTime: '5m',
          // `sub` is the id of the user in Rostrum. No address is in the token.
          getSubject: ({ user }) => claims.subjectOf(user.id),
          definePayload: ({ session, user }) => ({ sid: session.id, account: user.id }),
        },
      }),
    ],
  } satisfies BetterAuthOptions;
  await (await getMigrations(options)).runMigrations();
  const auth = betterAuth(options);
  const signedIn = database.prepare(
    `SELECT user.id, role, banned FROM session JOIN user ON user.id = userId
    WHERE session.id = ? AND expiresAt > ?`,
  );

  const exists = async (id: string) =>
    (await users.list({ filter: { ids: [id] } })).items.length > 0;

  /** Tells whose token it is. A role, a ban and the end of a session count from the next request. */
  const verifier: TokenVerifier = {
    async authenticate(token) {
      const { payload } = await auth.api.verifyJWT({ body: { token } });
      const account = payload && signedIn.get(String(payload.sid), new Date().toISOString());
      if (!account || account.banned) return { refused: 'account' };
      const subject = claims.subjectOf(String(account.id));
      return { name: subject, subject, scopes: new Set(roles[String(account.role)] ?? member) };
    },
  };
  return { auth, database, verifier };
}

/** Knows the key of the operator, for `/admin`. It is in a file, which the first start creates. */
export function operator(file: string): TokenVerifier {
  const digest = (token: string) => hash('sha256', token, 'buffer');
  const key = digest(secretIn(file));
  return {
    authenticate: (token) =>
      timingSafeEqual(digest(token), key)
        ? { name: 'operator', subject: null, scopes: new Set(scopes) }
        : undefined,
  };
}

/** Returns the secret in a file. The first start creates it. */
function secretIn(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
