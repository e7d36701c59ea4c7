import { readFileSync } from 'node:fs';
import { SettingError } from './setting-error.ts';

/** @throws SettingError on a Node older than package.json asks for */
export function checkNode(): void {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { engines } = JSON.parse(file) as { engines: { node: string } };
  const wanted = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = wanted.split('.').map(Number);
  const [isMajor = 0, isMinor = 0] = process.versions.node.split('.').map(Number);
  if (isMajor > major || (isMajor === major && isMinor >= minor)) return;
  throw new SettingError(
    `Rostrum needs Node ${wanted} or newer and this is ${process.version}: install Node 24.`,
  );
}
