// Lists the packages that the program runs on, as an SBOM (CycloneDX) that npm makes from the lock
// file. Fails if one of them has a licence that we don't accept. Needs no network.
//
//   node scripts/sbom.ts [--output sbom.cdx.json]

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { npm } from './npm.ts';

/** Licences that allow use, changes and copies, and require no more than their own text. */
const accepted = '0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BlueOak-1.0.0 ISC MIT'.split(' ');

interface Component {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string }[];
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

/** Returns the licence of a component as an SPDX expression; empty if it names none. */
function licenceOf({ licenses = [] }: Component): string {
  return licenses
    .map((one) => one.expression ?? one.license?.id ?? one.license?.name)
    .join(' AND ');
}

/** One licence of a choice is enough. If there is an AND, every licence must be accepted. */
function isAccepted(expression: string): boolean {
  const ids = expression.match(/\b(?!(?:OR|AND)\b)[\w.-]+/g) ?? [];
  const isKnown = (id: string) => accepted.includes(id);
  return expression.includes(' AND ') ? ids.every(isKnown) : ids.some(isKnown);
}

const { stdout, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']);
if (stdout === '') throw new Error(`npm sbom failed: ${stderr}`);
const sbom = JSON.parse(stdout);
sbom.metadata.component.name = 'rostrum'; // npm uses the name of the folder.
// `--omit dev` would leave out packages that the root needs for development as well.
const components: Component[] = sbom.components.filter(
  ({ properties = [] }: Component) =>
    !properties.some(({ name }) => name === 'cdx:npm:package:development'),
);
const kept = new Set(components.map((component) => component['bom-ref']));
sbom.components = components;
sbom.dependencies = sbom.dependencies
  .filter(({ ref }: { ref: string }) => kept.has(ref) || ref.startsWith('rostrum@'))
  .map((one: { dependsOn: string[] }) => ({
    ...one,
    dependsOn: one.dependsOn.filter((ref) => kept.has(ref)),
  }));

const rejected = components.filter((component) => !isAccepted(licenceOf(component)));
for (const component of rejected) {
  const licence = licenceOf(component) || 'no licence that npm knows';
  console.error(`${component['bom-ref']}: ${licence}; accepted are ${accepted.join(', ')}.`);
}
if (rejected.length > 0 || components.length === 0) process.exitCode = 1;
const { output } = parseArgs({ options: { output: { type: 'string' } } }).values;
if (output !== undefined) writeFileSync(output, `${JSON.stringify(sbom, null, 2)}\n`);
console.log(
  `${components.length} packages, ${rejected.length} with a licence that is not accepted`,
);
