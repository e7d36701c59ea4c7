import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the licences of the packages that contain these files, with each text once. */
export function licencesOf(paths: readonly string[]): string {
  const folders = new Set(paths.flatMap((path) => packageOf(path) ?? []));
  const byText = new Map<string, string[]>();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const texts = globSync('{LICEN[CS]E,NOTICE,COPYING}*', { cwd: folder }).sort();
    if (texts.length === 0 && !license) throw new Error(`${name} has no licence.`);
    const text = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
    const names = byText.get(text || String(license)) ?? [];
    byText.set(text || String(license), [...names, `${name} ${version} (${license})`]);
  }
  const parts = Array.from(byText, ([text, names]) => `${names.join('\n')}\n\n${text}\n`);
  return `This package contains these packages:\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
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
