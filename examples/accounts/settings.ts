// What the environment sets. The README lists the settings.

import { join } from 'node:path';
import type { Site } from './layout.ts';

const { env } = process;

// The accounts and the keys are for this user of the machine only.
process.umask(0o077);

export const port = Number(env.PORT ?? 3000);
export const host = env.HOST ?? 'localhost';
/** Everything that the blog keeps is in this folder, unless it is in MongoDB. */
export const folder = env.DATA ?? 'data';
export const mongodb = env.MONGODB_URL || undefined;
/** The store of users and posts, as Rostrum's commands take it. */
export const storeUrl = mongodb ?? `sqlite:${join(folder, 'blog.db')}`;

export const site: Site = {
  title: env.BLOG_TITLE ?? 'Blog',
  url: (env.PUBLIC_URL ?? `http://localhost:${port}`).replace(/\/$/, ''),
  publish: choice('PUBLISH', ['editors', 'members']),
  signUp: choice('SIGN_UP', ['open', 'closed']),
};

/** Returns the value of a variable; the first option if it is not set. */
function choice(name: string, options: readonly [string, string]): string {
  const value = env[name] || options[0];
  if (options.includes(value)) return value;
  console.error(`${name} must be ${options.join(' or ')}, not "${value}".`);
  process.exit(2);
}

export const isBehindProxy = Boolean(env.TRUST_PROXY);

export const mailFrom = env.MAIL_FROM ?? 'blog@localhost';
export const smtp = env.SMTP_URL || undefined;
