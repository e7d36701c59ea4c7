// The home page in Chromium: its examples, as callers of different rights, and what it shows to whom.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createKey, type Server, startServer } from '../support/server.ts';
import { copied, inChromium, looks, visit } from './chromium.ts';

const outcomes = {
  'A conflict is refused': '→ 412 version-mismatch  ETag: "2"',
  'A repeat is answered once': 'The same id: there is one post.',
  'A page neither skips': 'None was skipped, and none came twice.',
  'An error says what is wrong': '/publishedAt: ',
};

/** Runs an example. @returns what it shows at its end */
async function outcomeOf(page: Page, title: string): Promise<string> {
  const card = page.locator('.card', { hasText: title });
  await card.getByRole('button', { name: 'Try it here' }).click();
  await card.getByRole('button', { disabled: false }).waitFor();
  return (await card.locator('pre').textContent()) ?? '';
}

describe('the home page in Chromium', function () {
  this.timeout(300_000);
  const given = inChromium();
  let keys: string;

  before(() => {
    keys = join(given.folder, 'keys');
  });

  /** Opens the page as /admin leaves a tab in which a key was entered. */
  async function visitWith(
    { address }: Server,
    key: string,
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    await visit(given.browser, `${address}/livez`, undefined, async (page) => {
      await page.evaluate((key) => sessionStorage.setItem('rostrum.token', key), key);
      await page.goto(address, { waitUntil: 'networkidle' });
      await use(page);
    });
  }

  for (const look of looks) {
    it(`runs its examples on an empty store: ${look.colorScheme}, ${look.viewport.width} px wide`, async () => {
      await using server = await startServer('--store', 'memory:', '--require-if-match');
      await visit(given.browser, server.address, look, async (page) => {
        await page.getByText('Ready', { exact: true }).waitFor();
        await page.getByText('0 users · 0 posts').waitFor();
        for (const [title, outcome] of Object.entries(outcomes)) {
          expect(await outcomeOf(page, title)).to.contain(outcome);
        }
        const cut = await page.evaluate<number>(
          "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth).length",
        );
        expect(cut).to.equal(0);
        const first = page.locator('.card', { hasText: 'In a terminal' });
        expect(await copied(page, first)).to.contain(`curl ${server.address}/api/v1/users \\\n`);
        await page.reload();
        await page.getByText('0 users · 0 posts').waitFor();
      });
    });
  }

  it('runs its examples as any caller that may write posts, and says what another one lacks', async () => {
    const all = await createKey(keys, 'users:read,posts:read:all,posts:write', '--name', 'staff');
    const own = await createKey(
      keys,
      'posts:read,posts:write:own,users:write:own',
      '--subject',
      'ada',
    );
    const blind = await createKey(keys, 'posts:write');
    const reader = await createKey(keys, 'posts:read');
    await using server = await startServer('--store', 'memory:', '--auth-keys', keys);
    const ada = await fetch(`${server.address}/api/v1/users/me`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${own}`, 'Content-Type': 'application/json' },
      body: '{"name": "Ada"}',
    });
    expect(ada.status).to.equal(201);
    for (const [key, facts, missing] of [
      [all, /^Version [\d.]+ · in memory · since /, undefined],
      [own, /^$/, undefined],
      [blind, /^$/, 'This needs the scope posts:read.'],
      [reader, /^$/, 'This needs the scope posts:write.'],
    ] as const) {
      await visitWith(server, key, async (page) => {
        await page.getByText('signed in as').waitFor();
        expect(await page.locator('#facts').textContent()).to.match(facts);
        for (const [title, outcome] of Object.entries(outcomes)) {
          const isMissing = key === reader || (key === blind && title.startsWith('A page'));
          const text = await outcomeOf(page, title);
          expect(text, title).to.contain(isMissing ? missing : outcome);
          expect(text.includes('Sign in at /admin'), title).to.equal(isMissing);
        }
      });
    }
    const list = await fetch(`${server.address}/api/v1/posts`, {
      headers: { Authorization: `Bearer ${all}` },
    });
    expect(await list.json()).to.deep.equal({ posts: [], next: null });
  });

  it('says where posts need fields that no example knows', async () => {
    const schema = join(given.folder, 'posts.json');
    writeFileSync(schema, '{"properties": {"section": true}, "required": ["section"]}');
    await using server = await startServer('--store', 'memory:', '--post-schema', schema);
    await visit(given.browser, server.address, undefined, async (page) => {
      expect(await outcomeOf(page, 'A page neither skips')).to.contain('fields that no example');
      expect(await outcomeOf(page, 'An error says')).to.contain('/section: ');
    });
  });

  it('asks for nothing that it may not have, and leads to /admin', async () => {
    await using server = await startServer('--store', 'memory:', '--auth-keys', keys);
    const page = await given.browser.newPage();
    const errors: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    try {
      await page.goto(server.address, { waitUntil: 'networkidle' });
      expect(errors).to.deep.equal([]);
      const text = await outcomeOf(page, 'A conflict is refused');
      expect(text).to.contain('→ 401 unauthenticated\nThis needs credentials.\nSign in at /admin');
      await page.getByRole('link', { name: 'Sign in at /admin' }).click();
      await page.getByLabel('Key or token').waitFor();
    } finally {
      await page.close();
    }
  });
});
