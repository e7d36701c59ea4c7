// A blog with comments: Rostrum's API, and a table and routes of our own beside it.

import { Router } from '@koa/router';
import Koa, { type Context, type Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import { type CallerInput, createRostrum, isRostrumError, type Scope } from 'rostrum';
import { rostrumMiddleware } from 'rostrum/http';
import { openSqliteStore } from 'rostrum/sqlite';
import { openComments } from './comments.ts';

const path = process.env.DATA_FILE ?? 'data/blog.db';
const store = openSqliteStore({ path });
const comments = openComments(path);
const rostrum = createRostrum(store);

/** Stands in for your sessions: the user that a token belongs to. */
const users = new Map([
  ['ada-token', 'ada'],
  ['grace-token', 'grace'],
]);
const anonymous: Scope[] = ['posts:read'];
const member: Scope[] = ['posts:read', 'posts:write:own', 'users:write:own'];

/** Names the caller, for Rostrum's routes and for ours. */
function authenticate(ctx: Context): CallerInput | { refused: string } | undefined {
  const token = ctx.get('Authorization').replace(/^Bearer /, '');
  if (token === '') return undefined;
  const subject = users.get(token);
  return subject ? { name: subject, subject, scopes: member } : { refused: 'token' };
}

/** Sets `ctx.state.caller`, and turns errors of Rostrum's core into responses. */
async function forCaller(ctx: Context, next: Next): Promise<void> {
  const caller = authenticate(ctx) ?? { name: 'anonymous', subject: null, scopes: anonymous };
  if ('refused' in caller) ctx.throw(401, 'This token is not valid.');
  ctx.state.caller = caller;
  try {
    await next();
  } catch (error) {
    if (isRostrumError(error, 'post-not-found')) ctx.throw(404, error.message);
    if (isRostrumError(error, 'store-unavailable')) ctx.throw(503, error.message);
    throw error;
  }
}

/** Throws `post-not-found` unless the caller can see the post. */
async function checkPost(ctx: Context, id: string): Promise<void> {
  await rostrum.as(ctx.state.caller).posts.get(id);
}

const router = new Router({ prefix: '/api/v1' });
router.use(forCaller);

router.get('/posts/:id/comments', async (ctx) => {
  const { id = '' } = ctx.params;
  await checkPost(ctx, id);
  const page = comments.list(id, Number(ctx.query.after ?? 0), 100);
  ctx.body = { comments: page, next: page.length < 100 ? null : page.at(-1)?.id };
});

// The body parser is for this route alone: Rostrum reads the bodies of its own requests.
router.post('/posts/:id/comments', bodyParser({ enableTypes: ['json'] }), async (ctx) => {
  const { id = '' } = ctx.params;
  const author = ctx.state.caller.subject ?? ctx.throw(401, 'Sign in first.');
  const { text } = ctx.request.body as { text?: unknown };
  if (typeof text !== 'string' || text.trim() === '' || text.length > 2000) {
    return ctx.throw(422, 'The text must have 1 to 2000 characters.');
  }
  await checkPost(ctx, id);
  const comment = comments.add(id, author, text);
  if (comment === undefined) {
    await checkPost(ctx, id); // The post can have been deleted since the first check.
    return ctx.throw(422, 'Create your user first: PUT /api/v1/users/me.');
  }
  ctx.status = 201;
  ctx.body = comment;
});

router.delete('/comments/:id', (ctx) => {
  const author = ctx.state.caller.subject ?? ctx.throw(401, 'Sign in first.');
  if (!comments.delete(Number(ctx.params.id), author)) ctx.throw(404, 'You have no such comment.');
  ctx.status = 204;
});

const app = new Koa();
app.use(router.routes()); // First: below its prefix, Rostrum responds to every path.
app.use(rostrumMiddleware(rostrum, { authenticate, anonymous }));

const port = Number(process.env.PORT ?? 3000);
const server = app.listen(port, '127.0.0.1', () => {
  console.log(`The blog is at http://127.0.0.1:${port}/api/v1/posts`);
});

process.once('SIGTERM', () => {
  server.close(async () => {
    comments.close();
    await store.close();
  });
});
