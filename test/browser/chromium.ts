// Chromium, and what every visit of a page holds. Chromium has to be on the path
// (`apt-get install chromium`), or CHROMIUM says where it is. With SCREENSHOTS=FOLDER each visit leaves a
// picture there.

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
/** As root in a container Chromium has no sandbox; the others keep it from asking hosts of its own. */
const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** @returns undefined where there is no Chromium, and says so */
export async function launch(): Promise<Browser | undefined> {
  if (executablePath !== undefined) return chromium.launch({ executablePath, args });
  console.error('SKIPPED: there is no Chromium on the path, and CHROMIUM names none.');
  return undefined;
}

interface Given {
  readonly browser: Browser;
  readonly folder: string;
}

/** Gives a suite a browser and a folder, or skips it where there is no Chromium. */
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

/** What axe-core finds in the page as it is. */
export async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axe, 'utf8'));
  const found = await page.evaluate<Violation[]>('axe.run().then((result) => result.violations)');
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/** What is wrong with a page in silence, as it happens. */
export function watch(page: Page, wrong: string[] = []): string[] {
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    // Chromium and react-admin tell of what is refused, or lost by a test; what the page makes of it counts.
    const refused = /status of (?:4\d\d|50[02])|ERR_FAILED|must have|since you read it/.test(
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

/** Opens an address, uses what is there, and holds that nothing was wrong with it in silence. */
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
