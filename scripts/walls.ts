// The walls between the rooms of src, as data, and the check that they hold. The compiler holds the
// core's walls too (src/tsconfig.core.json); what it lets through is caught here: imports for side
// effects, decorators, references, and everything between the rooms outside the core.

import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, posix, resolve, sep } from 'node:path';
import ts from 'typescript-5';

const root = resolve(import.meta.dirname, '..');

interface Room {
  /** Rooms that this one may import; its own files are always allowed. */
  readonly rooms: readonly string[];
  /** Rooms of which it may import types only. */
  readonly types?: readonly string[];
  /** Packages that it may import; `node:` stands for Node's own, but for `node:sqlite`. */
  readonly packages: readonly string[];
  /** Nothing but the language: no ambient declaration, no way round the compiler. */
  readonly pure?: true;
}

const adapter = (...packages: string[]): Room => ({
  rooms: ['domain', 'ports', 'adapters'],
  packages: ['node:', ...packages],
});

const ANY = '*';

const rooms: Record<string, Room> = {
  domain: { rooms: [], types: ['ports'], packages: [], pure: true },
  ports: { rooms: ['domain'], packages: [], pure: true },
  testing: {
    rooms: ['domain', 'ports'],
    packages: ['node:assert', 'node:assert/strict'],
  },
  // Files directly in adapters/: what several of them need and none of them owns.
  adapters: { rooms: ['domain', 'ports'], packages: ['node:'] },
  'adapters/memory': adapter(),
  'adapters/sqlite': adapter('node:sqlite'),
  'adapters/mongodb': adapter('mongodb'),
  'adapters/http': adapter('koa', '@koa/router', 'koa-bodyparser'),
  'adapters/system': adapter('pino'),
  // What the program may be told; opens a store without Inversify.
  settings: {
    rooms: ['domain', 'ports', 'adapters/memory', 'adapters/sqlite', 'adapters/mongodb'],
    packages: [],
  },
  'adapters/inversify': { rooms: [ANY], packages: ['node:', 'inversify'] },
  // The core as an embedder sees it: what it gets without asking is the real clock and real ids.
  'index.ts': { rooms: ['domain', 'ports', 'adapters/system'], packages: [] },
  // main.ts and what is beside it bring the rooms together.
  '': { rooms: [ANY], packages: ['node:', 'cli-progress'] },
};

/** An adapter that the table does not know yet gets no package but Node's own. */
const newAdapter = adapter();

function roomOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  if (file === 'index.ts') return file;
  if (['ports', 'testing', 'settings'].includes(first)) return first;
  if (first === 'adapters') return second.includes('.') ? first : `adapters/${second}`;
  return first === 'domain' ? 'domain' : '';
}

function ruleOf(room: string): Room {
  return rooms[room] ?? newAdapter;
}

const violations: string[] = [];

function checkImport(
  file: string,
  specifier: string | undefined,
  typeOnly: boolean,
): string | undefined {
  const from = roomOf(file);
  const rule = ruleOf(from);
  if (specifier === undefined) {
    return rule.pure ? `${from} imports something computed` : undefined;
  }
  if (!specifier.startsWith('.')) return checkPackage(from, rule, specifier);

  const target = posix.join(posix.dirname(file), specifier);
  if (target.startsWith('..')) return `src imports ${specifier}, which is outside src`;
  const to = roomOf(target);
  if (to === from || rule.rooms.includes(to) || rule.rooms.includes(ANY)) return undefined;
  if (rule.types?.includes(to)) {
    return typeOnly ? undefined : `${from} may import types of ${to} only, by \`import type\``;
  }
  return `${from || 'src'} may not import ${to || target} (${specifier})`;
}

function checkPackage(from: string, rule: Room, specifier: string): string | undefined {
  const name = `${isBuiltin(specifier) ? 'node:' : ''}${specifier.replace(/^node:/, '')}`;
  const allowed = rule.packages.some((one) => {
    if (one === 'node:') return name.startsWith(one) && name !== 'node:sqlite';
    return name === one || (!one.startsWith('node:') && name.startsWith(`${one}/`));
  });
  return allowed ? undefined : `${from || 'src'} may not import ${specifier}`;
}

function checkFile(path: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const file = path.startsWith('src/') ? path.slice('src/'.length) : undefined;
  const room = file === undefined ? undefined : roomOf(file);
  const pure = room !== undefined && ruleOf(room).pure === true;

  const report = (position: number, message: string | undefined): void => {
    if (message === undefined) return;
    const { line, character } = source.getLineAndCharacterOfPosition(position);
    violations.push(`${path}:${line + 1}:${character + 1} ${message}`);
  };

  const imported = (node: ts.Node, specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (file === undefined) return;
    const name = specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
    report(node.getStart(), checkImport(file, name, typeOnly));
  };

  const visit = (node: ts.Node): void => {
    if (ts.isDecorator(node)) report(node.getStart(), 'no decorators: wire plain classes');
    if (ts.isImportDeclaration(node)) {
      imported(node, node.moduleSpecifier, node.importClause?.isTypeOnly ?? false);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      imported(node, node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node)) {
      imported(node, ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      imported(node, node.arguments[0], false);
    }
    if (pure) report(node.getStart(), impurity(node, room));
    ts.forEachChild(node, visit);
  };
  visit(source);

  if (pure) {
    const directives = [
      ...source.typeReferenceDirectives,
      ...source.referencedFiles,
      ...source.libReferenceDirectives.filter((one) => one.fileName !== 'esnext.disposable'),
    ];
    for (const one of directives) report(one.pos, `${room} may not reference ${one.fileName}`);
    for (const match of text.matchAll(/@ts-(ignore|expect-error|nocheck)/g)) {
      report(match.index, `${room} may not silence the compiler (${match[0]})`);
    }
  }
}

function impurity(node: ts.Node, room: string): string | undefined {
  if (ts.isIdentifier(node) && node.text === 'globalThis') return `${room} may not use globalThis`;
  const ambient =
    ts.isStatement(node) &&
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some((modifier) => modifier.kind === ts.SyntaxKind.DeclareKeyword);
  return ambient ? `${room} may not declare what it does not make` : undefined;
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.split(sep).join('/')}`)
      .filter((path) => /\.[cm]?[jt]sx?$/.test(path))
      .sort();
  } catch {
    return []; // a folder that is not there has no walls
  }
}

for (const path of ['src', 'test', 'scripts', 'bench'].flatMap(filesOf)) {
  if (path.startsWith('src/') && !/^[^.]+(\.[a-z]+)*(?<!\.d)\.ts$/.test(path)) {
    violations.push(`${path}:1:1 src holds modules in .ts files and nothing else`);
  }
  checkFile(path);
}

if (violations.length > 0) {
  console.error(violations.join('\n'));
  process.exitCode = 1;
}
