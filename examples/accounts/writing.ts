// What members need to write, in addition to the API: a preview and images.

import Router from '@koa/router';
import { fileTypeFromBuffer } from 'file-type';
import type { Context } from 'koa';
import getRawBody, { type RawBodyError } from 'raw-body';
import { type Authenticate, problemResponses } from 'rostrum/http';
import { bodyOf } from './body.ts';
import { html } from './html.ts';
import { type Images, imageTypes, maxImageBytes } from './images.ts';

/** A body has at most 500,000 characters. */
const maxTextBytes = 2_000_000;

export function writingRoutes(authenticate: Authenticate, images: Images) {
  const router = new Router({ strict: true, sensitive: true });
  router.use(problemResponses());

  /** Returns the id of the caller's user. Cookies do not count, so no other site can call this. */
  async function member(ctx: Context): Promise<string> {
    const caller = await authenticate(ctx as never);
    if (caller === undefined || 'refused' in caller || caller.subject === null) {
      return ctx.throw(401, 'Sign in first.');
    }
    return caller.subject;
  }

  router.post('/preview', async (ctx) => {
    await member(ctx);
    const body = (await readBody(ctx, maxTextBytes)).toString();
    ctx.type = 'html';
    ctx.set('Content-Security-Policy', "default-src 'none'; sandbox");
    ctx.body = html`<!doctype html>
<html lang="en">
<title>Preview</title>
<link rel="stylesheet" href="/style.css">
<div class="body preview">${bodyOf({ body, format: String(ctx.query.format) })}</div>
</html>`.text;
  });

  router.post('/images', async (ctx) => {
    const account = await member(ctx);
    const bytes = await readBody(ctx, maxImageBytes);
    // By the content: the client can name any type.
    const { ext = '' } = (await fileTypeFromBuffer(bytes)) ?? {};
    if (!(ext in imageTypes)) ctx.throw(415, 'Use a PNG, JPEG, GIF, WebP or AVIF image.');
    const name = await images.add(bytes, ext, account);
    ctx.status = 201;
    ctx.body = { path: `/images/${name}` };
  });

  router.get('/images/:name', async (ctx) => {
    const { name = '' } = ctx.params;
    const [, extension = ''] = /^[0-9a-f]{64}\.(\w+)$/.exec(name) ?? ctx.throw(404);
    const bytes = await images.get(name);
    if (bytes === undefined) ctx.throw(404);
    ctx.set({
      ETag: `"${name}"`,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Security-Policy': "default-src 'none'; sandbox",
    });
    ctx.type = imageTypes[extension] ?? 'application/octet-stream';
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = bytes;
  });

  return router.routes();
}

/** Reads a body of at most `max` bytes, and no further than that. */
async function readBody(ctx: Context, max: number): Promise<Buffer> {
  try {
    return await getRawBody(ctx.req, { length: ctx.length, limit: max });
  } catch (error) {
    if ((error as RawBodyError).type !== 'entity.too.large') throw error;
    ctx.set('Connection', 'close');
    return ctx.throw(413, `Send at most ${max / 1e6} MB.`);
  }
}
