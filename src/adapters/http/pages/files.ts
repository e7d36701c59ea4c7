import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from '../context.ts';
import { maxAcceptLength } from './html.ts';

export interface StaticFile {
  readonly type: string;
  read(): string | Promise<string>;
}

async function read(file: StaticFile) {
  const plain = Buffer.from(await file.read());
  const tag = `"${hash('sha256', plain, 'base64url').slice(0, 16)}"`;
  return { plain, zipped: await promisify(gzip)(plain), tag };
}

/** Returns a function that loads a value once. After a failure, the next call tries again. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}

/** Returns the handler of a file, which is read and compressed once. */
export function fileHandler(file: StaticFile): (ctx: Context) => Promise<void> {
  const load = loadOnce(() => read(file));
  return async (ctx) => {
    const { plain, zipped, tag } = await load();
    const { 'accept-encoding': accepted = '' } = ctx.headers;
    const isShort = accepted.length <= maxAcceptLength;
    const isZipped = isShort && ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
    ctx.status = 200;
    ctx.vary('Accept-Encoding');
    ctx.set({ 'Cache-Control': 'no-cache', ETag: isZipped ? `W/${tag}` : tag });
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    ctx.set('Content-Type', file.type);
    if (isZipped) ctx.set('Content-Encoding', 'gzip');
    ctx.body = isZipped ? zipped : plain;
  };
}
