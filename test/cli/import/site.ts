import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { Failure } from '../../../src/cli/failure.ts';
import { openDataFile, openDocument } from '../../../src/cli/import/data-file.ts';
import { type Imported, importRecords } from '../../../src/cli/import/import-records.ts';
import { createInstant } from '../../../src/cli/import/instant.ts';
import { openText } from '../../../src/cli/import/text.ts';
import {
  createTransformer,
  readDocument,
  type TransformModule,
} from '../../../src/cli/import/transform.ts';
import { repository, temporaryDirectory } from '../../support/repository-copy.ts';
import { contentOf } from '../transfer/records.ts';
import type { Own } from './imports.ts';
import type { Files, SiteSource } from './sources.ts';

export interface Outcome {
  readonly users: readonly Own[];
  readonly posts: readonly Own[];
  /** Messages of rejected records, and of a failure. */
  readonly messages: readonly string[];
  readonly results: readonly Imported[];
  /** The rows of rejected records. */
  readonly rejected: readonly unknown[];
  /** How many rows were left out, by reason. */
  readonly leftOut: Readonly<Record<string, number>>;
}

let modules = 0;

/** A recipe with new state: some remember the users that they have seen. */
async function loadRecipe(name: string): Promise<TransformModule> {
  modules += 1;
  const path = join(repository, 'examples', 'moving-in', `${name}.ts`);
  return import(`${pathToFileURL(path)}?${modules}`);
}

/** Serves lists of JSON as WordPress does: each file under its name. */
export async function serveFiles() {
  let files: Files = {};
  const server = createServer((request, response) => {
    const name = /\/wp-json\/wp\/v2\/(\w+)/.exec(request.url ?? '')?.[1] ?? '';
    response.writeHead(200, { 'X-WP-TotalPages': '1' }).end(files[name]);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    put: (next: Files) => {
      files = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Imports files with a recipe into a new store. */
export async function importFiles(
  recipe: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<Outcome> {
  await using folder = await temporaryDirectory();
  const file = Object.keys(files)[0]?.includes('/') ? 'site' : Object.keys(files)[0];
  const source = { recipe, imports: [{ file: file ?? '' }], write: () => files };
  return importSite(source, { users: [], posts: [] }, folder.path);
}

/** Writes a site as another program exports it, and imports it into a new store. */
export async function importSite(
  source: Pick<SiteSource, 'recipe' | 'imports' | 'write'>,
  rows: { readonly users: readonly Own[]; readonly posts: readonly Own[] },
  folder: string,
  server?: Awaited<ReturnType<typeof serveFiles>>,
): Promise<Outcome> {
  const store = createMemoryStore();
  const files = source.write(rows.users, rows.posts);
  const served = source.imports[0]?.file === '/' ? server : undefined;
  served?.put(files);
  for (const [name, text] of served ? [] : Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const messages: string[] = [];
  const results: Imported[] = [];
  const rejected: unknown[] = [];
  let leftOut = {};
  const recipe = source.recipe === undefined ? undefined : await loadRecipe(source.recipe);
  const instant = await createInstant();
  const { signal } = new AbortController();
  try {
    for (const { file, as } of source.imports) {
      const path = served?.address ?? join(folder, file);
      const opened = recipe?.read
        ? openDocument(path, await readDocument(path, recipe.read), as, recipe)
        : await openDataFile(await openText(path, signal), as, recipe);
      const transformer = recipe && createTransformer(recipe, { file: path, instant });
      const result = await importRecords(opened, store, {
        ...{ signal, instant, keepIds: true, added: { users: 0, posts: 0 }, progress() {} },
        transformer,
        report: ({ place, issues, content }) => {
          rejected.push(content);
          messages.push(...issues.map(({ message }) => `${place}: ${message}`));
        },
      });
      results.push(result);
      leftOut = Object.fromEntries(transformer?.leftOut ?? []);
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    messages.push(error.message);
  }
  const { users, posts } = await contentOf(store);
  const plain = (one: { record: object }) => one.record as Own;
  await store.close();
  return { users: users.map(plain), posts: posts.map(plain), messages, results, rejected, leftOut };
}
