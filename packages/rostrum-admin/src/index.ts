/** Where the static files of the admin page are. The server of `rostrum` serves them below `/admin`. */
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { pathToFileURL } from 'node:url';

/** A file of the page. */
export interface StaticFile {
  /** Its media type. */
  readonly type: string;
  /** Returns its text. */
  read(): Promise<string>;
}

const require = createRequire(import.meta.url);

/** A clone runs the sources, an installed package the build. */
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const client =
  extension === '.ts'
    ? new URL('../../rostrum-client/src/', import.meta.url)
    : new URL('.', import.meta.resolve('rostrum-client'));
// Node has a build of lit-html of its own, in a folder of the package.
const lit = new URL('../', pathToFileURL(require.resolve('lit-html')));

/** The modules of lit-html that the page imports, and those that they import. */
const litModules = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

/** The modules of the client for other frameworks. */
const ofFrameworks = /^(?:admin|react-admin|refine)\./;

const types = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** The files of the page, by their path below it: `index.html` is the page itself. */
export const staticFiles: ReadonlyMap<string, StaticFile> = new Map([
  ['index.html', file(new URL('../static/index.html', import.meta.url), types.html)],
  ['admin.css', file(new URL('../static/admin.css', import.meta.url), types.css)],
  ...modulesIn(new URL('page/', import.meta.url), '', './'),
  ...modulesIn(client, 'client/', '../').filter(([path]) => !ofFrameworks.test(path.slice(7))),
  ...litModules.map((name) => [`lit-html/${name}`, file(new URL(name, lit), types.js)] as const),
]);

function file(url: URL, type: string): StaticFile {
  return { type, read: () => readFile(url, 'utf8') };
}

/** @param root the way from a module to the folder of the page */
function modulesIn(folder: URL, front: string, root: string): [string, StaticFile][] {
  const names = readdirSync(folder).filter(
    (name) => name.endsWith(extension) && !name.endsWith('.d.ts'),
  );
  return names.map((name) => {
    const read = async () =>
      resolved(stripped(await readFile(new URL(name, folder), 'utf8')), root);
    return [front + name.replace(/\.ts$/, '.js'), { type: types.js, read }];
  });
}

/** Names packages by their paths here, so that the page needs no import map. */
function resolved(text: string, root: string): string {
  return text
    .replace(/(from|import) '(rostrum-client)'/g, `$1 '${root}client/index.js'`)
    .replace(/from 'lit-html'/g, `from '${root}lit-html/lit-html.js'`)
    .replace(/from '(lit-html\/[^']+)'/g, `from '${root}$1'`);
}

/** Strips the types of a source. Node 22 warns that the function is new, which tells an operator nothing. */
function stripped(text: string): string {
  if (extension === '.js') return text;
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text).replace(/(from '\.[^']+)\.ts'/g, "$1.js'");
  } finally {
    process.emitWarning = emitWarning;
  }
}
