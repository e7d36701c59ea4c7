import { readFileSync } from 'node:fs';

/** The version of the package, from the sources and from the build alike. */
export function version(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(file) as { version: unknown }).version);
}
