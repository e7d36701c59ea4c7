// A blog in one process: better-auth has the accounts, Rostrum the users and posts.

import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { toNodeHandler } from 'better-auth/node';
import Koa, { type Context } from 'koa';
import { createRostrum } from 'rostrum';
import { bearerAuthentication, rostrumMiddleware, serve } from 'rostrum/http';
import { openSqliteStore } from 'rostrum/sqlite';
import { openAccounts } from './accounts.ts';
import { declaredFields } from './fields.ts';
import { anonymous } from './roles.ts';

const port = Number(process.env.PORT ?? 3000);
/** Where people see the blog. */
const url = process.env.PUBLIC_URL ?? `http://localhost:${port}`;
const folder = process.env.DATA ?? 'data';

const store = openSqliteStore({ path: join(folder, 'blog.db'), declaredFields });
const rostrum = createRostrum(store, { publicUserFields: ['about'] });
const { auth, verifier } = await openAccounts(folder, url);
const signing = toNodeHandler(auth);

const app = new Koa();
app.use(rostrumMiddleware(rostrum, { authenticate: bearerAuthentication([verifier]), anonymous }));
app.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/api/auth/')) return next();
  ctx.respond = false;
  await signing(ctx.req, ctx.res);
});
app.use(page);

const files: Readonly<Record<string, string>> = {
  '/': 'page/index.html',
  '/style.css': 'page/style.css',
  '/main.js': 'dist/main.js',
};

/** Serves the files of the page. A file that is not built is a 404, as Koa sends it. */
async function page(ctx: Context): Promise<void> {
  const file = files[ctx.path];
  if (file === undefined) return;
  try {
    ctx.body = await readFile(join(import.meta.dirname, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  ctx.type = extname(file);
  ctx.set({
    'Content-Security-Policy': "default-src 'self'; img-src data:",
    'Cache-Control': 'no-cache',
  });
}

const server = await serve(app, { port, host: 'localhost' }).catch((error: Error) => {
  console.error(`${error.message}. PORT=4000 npm start takes another port.`);
  process.exit(1);
});
console.log(`The blog is at ${url}`);

process.once('SIGTERM', async () => {
  await server.close();
  await store.close();
});
