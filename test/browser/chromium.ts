import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const folders = (process.env.PATH ?? '').split(delimiter);
const names = ['chromium', 'chromium-browser', 'google-chrome'];
const executablePath =
  process.env.CHROMIUM ??
  names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
/** As root in a container Chromium has no sandbox; the others keep it from asking hosts of its own. */
const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];

export const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [360, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })),
);

/** A browser, or undefined where there is no Chromium. */
export async function launch(): Promise<Browser | undefined> {
  if (executablePath !== undefined) return chromium.launch({ executablePath, args });
  console.error('SKIPPED: there is no Chromium on the path, and CHROMIUM names none.');
  return undefined;
}
