import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
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

/** A file of a page: where it is served, and how its text is read. */
export type Source = readonly [path: string, type: string, read: () => string | Promise<string>];

/** A client that accepts gzip; a quality of 0, or one that begins so, counts as none. */
const acceptsGzip = /(?:^|[,\s])gzip(?!\s*;\s*q=0)/i;

/** What pages load, by its path: each is read when it is first asked for, and is the same bytes for all. */
export class Files {
  readonly #list: () => readonly Source[];
  #sources: readonly Source[] | undefined;
  readonly #read = new Map<string, Promise<File>>();

  /** @param list called when a file is first asked for */
  constructor(list: () => readonly Source[]) {
    this.#list = list;
  }

  async find(ctx: Context, path: string): Promise<Response | undefined> {
    const file = await (this.#read.get(path) ?? this.#load(path));
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

  #load(path: string): Promise<File> | undefined {
    this.#sources ??= this.#list();
    const source = this.#sources.find(([name]) => name === path);
    if (source === undefined) return undefined;
    const file = fileOf(source);
    this.#read.set(path, file);
    file.catch(() => this.#read.delete(path));
    return file;
  }
}

async function fileOf([, type, read]: Source): Promise<File> {
  const plain = Buffer.from(await read());
  const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 16)}"`;
  return { type, plain, gzipped: await gzip(plain), tag };
}

/** Of sources, pages are served with their types stripped; of the package, as they were built. */
export const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

/** What pages do beside being read, and what of it they share, as `/NAME.js`. */
export const modules = ['home', 'reference', 'samples', 'copy', 'description'];

export const moduleFiles = new Files(() =>
  modules.map((name) => {
    const file = new URL(`../../../browser/${name}${extension}`, import.meta.url);
    return [`/${name}.js`, types.js, () => readModule(file)];
  }),
);

const require = createRequire(import.meta.url);

/** Whether an optional package is there. */
export function isInstalled(path: string): boolean {
  try {
    return require.resolve(path) !== '';
  } catch {
    return false;
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
