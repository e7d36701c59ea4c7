import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import { licencesOf } from './licences.ts';

const root = resolve(import.meta.dirname, '..', '..');
const source = join(root, 'src');
const require = createRequire(import.meta.url);

/** Packages that are used only if they are installed: by the MongoDB driver for some connection strings, and by `debug`. */
const optional = [
  ...['@aws-sdk/credential-providers', '@mongodb-js/zstd', 'aws4', 'gcp-metadata', 'kerberos'],
  ...['mongodb-client-encryption', 'snappy', 'socks', 'supports-color'],
];

/** The modules that the bundle can import, in addition to Node's own. */
const known = new Set([...optional, '#dist']);

/** Every output is an ES module; what it contains of CommonJS calls `require`. */
const banner = `import { createRequire as $createRequire } from 'node:module';
const require = $createRequire(import.meta.url);`;

/** Messages name commands as the package installs them: `rostrum-server key create`. */
const nameCommands = (text: string) =>
  text.replaceAll(
    /\brostrum (?=(?:backup|check|copy|export|field|import|key|restore|seed)\b)/g,
    'rostrum-server ',
  );

/**
 * A module finds files by paths relative to its own. In the bundle, it has the path that it has in the build of
 * `rostrum`: `dist/cli/package.js` finds `package.json`, and `dist/adapters/sqlite/lists/list-reader.js` its worker.
 */
const places: Plugin = {
  name: 'places',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!path.startsWith(source)) return undefined;
      const text = nameCommands(readFileSync(path, 'utf8'));
      if (!text.includes('import.meta.url')) return { contents: text, loader: 'ts' };
      const place = `./${relative(source, path).replaceAll('\\', '/').replace(/ts$/, 'js')}`;
      const contents = text.replaceAll('import.meta.url', `new URL('${place}', $dist).href`);
      return { contents: `${contents}\nimport { $dist } from '#dist';\n`, loader: 'ts' };
    });
    onResolve({ filter: /^#dist$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /\/assets\.ts$/ }, () => ({
      path: join(import.meta.dirname, 'assets.ts'),
    }));
    // A table of which four packages bring a version each.
    onResolve({ filter: /^mime-db$/ }, () => ({ path: join(folderOf('mime-db'), 'index.js') }));
    // For `pino.transport`, which the program doesn't use.
    onResolve({ filter: /^thread-stream$/ }, () => ({ path: 'thread-stream', namespace: 'empty' }));
    onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: '' }));
  },
};

/**
 * `import()` of a CommonJS package has the exports of that package in Node. In a chunk of esbuild it has only a
 * default, so that their names have to be written down.
 */
const namedExports: Plugin = {
  name: 'named-exports',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^[\w@]/ }, async ({ path, kind }) => {
      if (kind !== 'dynamic-import' || isBuiltin(path)) return undefined;
      // `require` of an ES module returns the module itself.
      const isCommonJs = (await import(path)).default === require(path);
      return isCommonJs ? { path, namespace: 'named' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'named' }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(
        (name) => name !== 'default' && name !== 'module.exports',
      );
      const contents = `const all = require('${path}');
        export default all;
        export const { ${names} } = all;`;
      return { contents, resolveDir: root };
    });
  },
};

/** Returns the folder of an installed package. */
const folderOf = (name: string) => join(root, 'node_modules', name);

const program = ['main.ts', 'adapters/sqlite/lists/list-worker.ts'];

/**
 * Writes the package rostrum-server into a folder. Needs the build of the other packages. For tests that import modules,
 * the entry points can be other modules of `src`.
 */
export async function bundleServer(folder: string, modules = program): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const dist = join(folder, 'dist');
  const { metafile } = await build({
    entryPoints: modules.map((path) => join(source, path)),
    outbase: source,
    outdir: dist,
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    minify: true,
    lineLimit: 160, // Node prints the line of an error that nobody caught.
    // Names of classes are in messages of errors.
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    banner: { js: banner },
    external: optional,
    sourcemap: 'linked',
    sourcesContent: false,
    sourceRoot: 'rostrum:///', // Without it, stack traces name files beside the package.
    metafile: true,
    plugins: [places, namedExports],
    logLevel: 'warning',
  });
  const foreign = Object.values(metafile.outputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external && !isBuiltin(path) && !known.has(path));
  if (foreign.length > 0) throw new Error(`not bundled: ${foreign.map(({ path }) => path)}`);
  writeFileSync(join(dist, 'place.js'), 'export const $dist = import.meta.url;\n'); // `#dist`

  const pages = join(folder, 'pages');
  await writeAdmin(join(pages, 'admin'));
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    cpSync(join(folderOf('swagger-ui-dist'), name), join(pages, 'docs', name));
  }
  const licences = licencesOf(
    [
      ...Object.keys(metafile.inputs).map((path) => join(root, path)),
      ...['swagger-ui-dist', 'lit-html'].map(folderOf),
    ],
    [join(folderOf('swagger-ui-dist'), 'swagger-ui-bundle.js.LICENSE.txt')],
  );
  writeFileSync(join(folder, 'THIRD-PARTY-LICENCES.txt'), licences);
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'packages/rostrum-server/README.md'), join(folder, 'README.md'));
  writeManifest(folder);
}

/** Writes the files of the admin page as the server sends them, and their list. */
async function writeAdmin(folder: string): Promise<void> {
  const built = join(root, 'packages/rostrum-admin/dist/index.js');
  const { staticFiles } = (await import(built)) as typeof import('rostrum-admin');
  const types: [string, string][] = [];
  for (const [path, file] of staticFiles) {
    const text = nameCommands(await file.read());
    const loader = path.endsWith('.css') ? 'css' : 'js';
    const isCode = !path.endsWith('.html');
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const { code } = isCode ? await transform(text, { loader, minify: true }) : { code: text };
    writeFileSync(join(folder, path), code);
    types.push([path, file.type]);
  }
  writeFileSync(join(folder, 'files.json'), JSON.stringify(types));
}

/** The manifest in the repository lists what a clone needs; the bundle contains all of it. */
function writeManifest(folder: string): void {
  const path = join(root, 'packages/rostrum-server/package.json');
  const {
    private: _,
    dependencies: __,
    scarfSettings: ___,
    ...manifest
  } = JSON.parse(readFileSync(path, 'utf8'));
  const bin = { 'rostrum-server': 'dist/main.js' };
  const imports = { '#dist': './dist/place.js' };
  const files = ['dist', 'pages', 'THIRD-PARTY-LICENCES.txt'];
  writeFileSync(
    join(folder, 'package.json'),
    `${JSON.stringify({ ...manifest, bin, files, imports }, null, 2)}\n`,
  );
}
