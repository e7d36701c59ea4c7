// A blog in one process: better-auth has the accounts, Rostrum the users and posts.

import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { toNodeHandler } from 'better-auth/node';
import Koa, { type Context } from 'koa';
import { bearerAuthentication, createApp, serve } from 'rostrum/http';
import { openAccounts, operator } from './accounts.ts';
import { folderBlobs } from './blobs.ts';
import { html } from './html.ts';
import { createImages } from './images.ts';
import { isFresh, type Site } from './layout.ts';
import { openMail } from './mail.ts';
import { readerPages } from './pages.ts';
import { anonymous } from './roles.ts';
import { openSearch } from './search.ts';
import { folder, host, isBehindProxy, mailFrom, mongodb, port, site, smtp } from './settings.ts';
import { openBlog } from './store.ts';
import { writingRoutes } from './writing.ts';

const { store, rostrum } = await openBlog(folder, mongodb);
const mail = openMail(mailFrom, smtp);
const { auth, database, verifier } = await openAccounts(folder, site, mail, rostrum);
const signing = toNodeHandler(auth);
const authenticate = bearerAuthentication([operator(join(folder, 'operator-key')), verifier]);
const images = createImages(folderBlobs(join(folder, 'images')), database, rostrum.posts);

const ended = new AbortController();
const search = openSearch(join(folder, 'search.db'), rostrum, ended.signal);

/** Behind a proxy, the address of a client is the last one in `X-Forwarded-For`. */
const app = new Koa({ proxy: isBehindProxy, maxIpsCount: 1 });
app.use((ctx, next) => {
  ctx.set('X-Content-Type-Options', 'nosniff');
  return next();
});
app.use(async (ctx, next) => {
  if (!ctx.path.startsWith('/api/auth/')) return next();
  ctx.respond = false;
  // For better-auth's limits: no client can choose it.
  ctx.req.headers['x-client-address'] = ctx.ip;
  await signing(ctx.req, ctx.res);
});
app.use(files);
app.use(writingRoutes(authenticate, images));
app.use(readerPages(rostrum, site, search));

const api = createApp(rostrum, {
  authenticate,
  anonymous,
  pages: ['admin'],
  ready: () => store.ready(),
});
for (const middleware of api.middleware) app.use(middleware);

const dashboardPolicy =
  "default-src 'self'; img-src 'self' http: https: data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/** Serves the style sheet, and the dashboard, where members write. */
async function files(ctx: Context, next: () => Promise<void>): Promise<void> {
  const file = {
    '/style.css': 'page/style.css',
    '/dashboard': 'page/index.html',
    '/dashboard.js': 'dist/main.js',
  }[ctx.path];
  if (file === undefined) return next();
  const source = await readFile(join(import.meta.dirname, file), 'utf8');
  const isPage = file === 'page/index.html';
  const fill = (_: string, name: keyof Site) => html`${site[name]}`.text;
  const text = isPage ? source.replace(/{{(\w+)}}/g, fill) : source;
  if (isFresh(ctx, text)) return;
  ctx.type = extname(file);
  ctx.set('Content-Security-Policy', dashboardPolicy);
  ctx.body = text;
}

const server = await serve(app, { port, host }).catch((error: Error) => {
  console.error(`${error.message}. PORT=4000 npm start takes another port.`);
  process.exit(1);
});
console.log(`The blog is at ${site.url}`);

/** Deletes unused images at the start, and each hour. */
const sweep = () => images.sweep().catch((error) => console.error(error));
await sweep();
const sweeping = setInterval(sweep, 60 * 60 * 1000);

process.once('SIGTERM', async () => {
  clearInterval(sweeping);
  await server.close();
  ended.abort();
  await search.close();
  await store.close();
});
