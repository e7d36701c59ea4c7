import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly author?: string | { readonly name: string };
}

/**
 * Returns the licences of the packages that contain these files, with each text once. Adds the text of `notices`: files
 * with licences of what a package contains.
 */
export function licencesOf(paths: readonly string[], notices: readonly string[]): string {
  const folders = new Set(paths.flatMap((path) => packageOf(path) ?? []));
  const byText = new Map<string, Set<string>>();
  const add = (name: string, text: string) => {
    byText.set(text, (byText.get(text) ?? new Set()).add(name));
  };
  for (const folder of [...folders].sort()) {
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((name) => /^(licen[cs]e|notice|copying)/i.test(name));
    const texts = files.sort().map((name) => textOf(join(folder, name)));
    const text = texts.join('\n\n') || standardText(manifest);
    add(`${manifest.name} ${manifest.version} (${manifest.license})`, text);
  }
  for (const path of notices) add(basename(path), textOf(path));
  const parts = Array.from(byText, ([text, names]) => `${[...names].join('\n')}\n\n${text}\n`);
  return `This package contains these packages:\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

const textOf = (path: string) => readFileSync(path, 'utf8').trim();

/** Returns the licence of a package that has no file for it. The licence of Rostrum is MIT too. */
function standardText({ name, license, author }: Manifest): string {
  if (license !== 'MIT') throw new Error(`${name} has no text of its licence, ${license}.`);
  const holder = (typeof author === 'string' ? author : author?.name) ?? `The authors of ${name}`;
  const text = textOf(join(root, 'LICENSE')).replace(/^Copyright .*$/m, `Copyright (c) ${holder}`);
  return `The package contains no text of its licence. This is the standard text:\n\n${text}`;
}

/** Returns the folder of the npm package that a file or folder is in. */
function packageOf(path: string): string | undefined {
  if (!path.includes('node_modules')) return undefined;
  for (let folder = path; !folder.endsWith('node_modules'); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name) return folder;
  }
  return undefined;
}
