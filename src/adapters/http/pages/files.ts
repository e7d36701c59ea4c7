import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { promisify } from 'node:util';
import { gzip as gzipBytes } from 'node:zlib';
import type { Context } from 'koa';
import { type Response, revalidated } from '../response.ts';
import { maxAcceptLength } from './html.ts';

const gzip = promisify(gzipBytes);

export const types = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
} as const;

/** A file as it is, and compressed once for all clients that can read that. */
interface File {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly tag: string;
}

export type Text = readonly [path: string, type: string, text: string];

/** A client that accepts gzip; a quality of 0, or one that begins so, counts as none. */
const acceptsGzip = /(?:^|[,\s])gzip(?!\s*;\s*q=0)/i;

/** What pages load, by its path: read when it is first asked for, and the same bytes for all. */
export class Files {
  readonly #read: () => Promise<readonly Text[]>;
  #files: Promise<ReadonlyMap<string, File>> | undefined;

  constructor(read: () => Promise<readonly Text[]>) {
    this.#read = read;
  }

  async find(ctx: Context, path: string): Promise<Response | undefined> {
    this.#files ??= this.#load();
    const file = (await this.#files).get(path);
    if (file === undefined) return undefined;
    const isGzip = acceptsGzip.test(ctx.get('Accept-Encoding').slice(0, maxAcceptLength));
    const tag = isGzip ? `W/${file.tag}` : file.tag;
    const common = [...revalidated, 'Vary', 'Accept-Encoding', 'ETag', tag];
    if (ctx.get('If-None-Match') === tag) return { status: 304, headers: common };
    return {
      status: 200,
      headers: [...common, ...(isGzip ? ['Content-Encoding', 'gzip'] : [])],
      body: isGzip ? file.gzipped : file.plain,
      type: file.type,
    };
  }

  async #load(): Promise<ReadonlyMap<string, File>> {
    const all = (await this.#read()).map(async ([path, type, text]) => {
      const plain = Buffer.from(text);
      const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`;
      return [path, { type, plain, gzipped: await gzip(plain), tag }] as const;
    });
    return new Map(await Promise.all(all));
  }
}

/** A module as a browser runs it: of sources, with its types stripped. */
export async function readModule(file: URL): Promise<string> {
  const text = await readFile(file, 'utf8');
  return file.pathname.endsWith('.ts') ? stripped(text) : text;
}

/** Node warns of the function where it is new to it, which says nothing to an operator. */
function stripped(text: string): string {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text).replace(/(from '\.[^']+)\.ts'/g, "$1.js'");
  } finally {
    process.emitWarning = emitWarning;
  }
}
