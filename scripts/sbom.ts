// The packages that the program runs on, as an SBOM (CycloneDX) by npm from the lock file; and whether
// the licence of each of them is one that we accept. It needs no network.
//
//   node scripts/sbom.ts [--output sbom.cdx.json]

import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { npm } from './npm.ts';

const root = resolve(import.meta.dirname, '..');

/** Licences that allow use, changes and copies, and ask for no more than their own text. */
const accepted = new Set([
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'],
]);

interface Component {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string }[];
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

interface Sbom {
  readonly metadata: { readonly component: { name: string } };
  components: readonly Component[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** Not by `--omit dev`: it leaves out what the root, too, needs for development. */
function productionSbom(): Sbom {
  const { stdout, stderr, status } = npm(
    ...['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'],
  );
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const sbom = JSON.parse(stdout) as Sbom;
  sbom.metadata.component.name = 'rostrum'; // npm takes the name of the folder.
  sbom.components = sbom.components.filter(
    ({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'),
  );
  const kept = new Set(sbom.components.map((component) => component['bom-ref']));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => kept.has(ref) || ref.startsWith('rostrum@'))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => kept.has(on)) }));
  return sbom;
}

/** The licence of a component, as an SPDX expression; empty where it names none. */
function licenceOf({ licenses = [] }: Component): string {
  return licenses
    .map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '')
    .join(' AND ');
}

/** Of a choice (`OR`) one is enough. With an `AND` in it, all licences that are named have to be accepted. */
function isAccepted(expression: string): boolean {
  const ids = (expression.match(/[\w.-]+/g) ?? []).filter(
    (word) => word !== 'OR' && word !== 'AND',
  );
  const isMatch = (id: string) => accepted.has(id);
  return expression.includes(' AND ') ? ids.every(isMatch) : ids.some(isMatch);
}

const { values } = parseArgs({ options: { output: { type: 'string' } } });
const sbom = productionSbom();
const refused = sbom.components.filter((component) => !isAccepted(licenceOf(component)));
for (const component of refused) {
  const licence = licenceOf(component) || 'no licence that npm knows';
  console.error(`${component['bom-ref']}: ${licence}; accepted are ${[...accepted].join(', ')}.`);
}
if (refused.length > 0 || sbom.components.length === 0) process.exitCode = 1;
if (values.output !== undefined) {
  writeFileSync(resolve(root, values.output), `${JSON.stringify(sbom, null, 2)}\n`);
}
console.log(
  `${sbom.components.length} packages, ${refused.length} with a licence that is not accepted`,
);
