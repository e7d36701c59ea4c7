// Helpers to test pages in Chromium. Chromium must be on the PATH (`apt-get install chromium`), or CHROMIUM
// must be its path. SCREENSHOTS=FOLDER saves a screenshot of each visit.

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { type Browser, chromium, type Page } from 'playwright-core';

const folders = (process.env.PATH ?? '').split(delimiter);
const names = ['chromium', 'chromium-browser', 'google-chrome'];
const executablePath =
  process.env.CHROMIUM ??
  names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
/** Chromium cannot use its sandbox as root in a container. The other flags prevent requests to Google. */
const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Launches Chromium. Returns undefined and prints a message if there is none. */
export async function launch(): Promise<Browser | undefined> {
  if (executablePath !== undefined) return chromium.launch({ executablePath, args });
  console.error('SKIPPED: there is no Chromium on the path, and CHROMIUM names none.');
  return undefined;
}

interface Given {
  readonly browser: Browser;
  readonly folder: string;
}

/** Provides a suite with a browser and a folder, or skips it if there is no Chromium. */
export function inChromium(): Given {
  const given: { browser?: Browser; folder?: string } = {};
  before(async function () {
    given.browser = (await launch()) ?? this.skip();
    given.folder = await mkdtemp(join(tmpdir(), 'rostrum-browser-'));
  });
  after(async () => {
    await given.browser?.close();
    if (given.folder !== undefined) await rm(given.folder, { recursive: true, force: true });
  });
  return given as Given;
}

export const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [390, 1280].map((width) => ({ colorScheme, viewport: { width, height: 800 } })),
);

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Returns the accessibility violations that axe-core finds in the current page. */
export async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axe, 'utf8'));
  const found = await page.evaluate<Violation[]>('axe.run().then((result) => result.violations)');
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** Collects errors, console errors and external requests of a page. */
export function watch(page: Page, wrong: string[] = []): string[] {
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    // Ignore failed requests, which Chromium and react-admin log. The tests check how the page handles them.
    const refused = /status of (?:4\d\d|50[024])|ERR_FAILED|must have|since you read it/.test(
      message.text(),
    );
    if (message.type() === 'error' && !refused) wrong.push(message.text());
  });
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url());
    const isHere = protocol === 'data:' || ['127.0.0.1', 'localhost'].includes(hostname);
    if (!isHere) wrong.push(`a request to ${hostname}`);
  });
  return wrong;
}

/** Opens a page, uses it, and expects no errors, external requests or horizontal overflow. */
export async function visit(
  browser: Browser,
  address: string,
  look: (typeof looks)[number] | undefined,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(look);
  const page = await context.newPage();
  const wrong = watch(page);
  page.setDefaultTimeout(30_000);
  try {
    await page.goto(address, { waitUntil: 'networkidle' });
    await use(page);
    const { SCREENSHOTS } = process.env;
    if (SCREENSHOTS !== undefined) {
      const name = `${address.replace(/\?.*/, '')} ${look?.colorScheme} ${look?.viewport.width}`;
      await page.screenshot({ path: join(SCREENSHOTS, `${name.replace(/\W+/g, '-')}.png`) });
    }
    const overflow = await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (overflow > 0) wrong.push(`the page is ${overflow} px wider than the window`);
  } finally {
    await context.close();
  }
  expect(wrong).to.deep.equal([]);
}
