// `/docs` in Chromium: how long its operations are, and that each can be read and tried.

import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { createKey, type Server, startServer } from '../support/server.ts';
import { copied, inChromium, looks, violationsIn, visit } from './chromium.ts';

const execute = promisify(execFile);
const operations = [
  ...['getMe', 'putMe', 'patchMe', 'deleteMe', 'listUsers', 'createUser', 'getUser', 'replaceUser'],
  ...['patchUser', 'deleteUser', 'listPosts', 'createPost', 'getPost', 'replacePost', 'patchPost'],
  ...['deletePost', 'listEvents'],
];
const postSchema = {
  properties: {
    section: { type: 'string', enum: ['news', 'essays'] },
    pinned: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    pattern: { type: 'string' },
  },
};

describe('the reference in Chromium', function () {
  this.timeout(300_000);
  const given = inChromium();
  let key: string;
  let server: Server;
  let docs: string;

  before(async () => {
    const [keys, schema] = [join(given.folder, 'keys'), join(given.folder, 'posts.json')];
    await writeFile(schema, JSON.stringify(postSchema));
    key = await createKey(keys, 'users:read,users:write,posts:read,posts:write');
    // What makes operations long: callers, custom fields, and filters by them.
    const fields = ['section:text', 'pinned:boolean', 'year:number', 'slug:text', 'origin:text'];
    server = await startServer(
      ...['--store', 'memory:', '--auth-keys', keys, '--post-schema', schema],
      ...fields.flatMap((field) => ['--index', `posts.${field}`]),
    );
    docs = `${server.address}/docs`;
  });
  after(() => server?.stop());

  const operationOf = (page: Page, name: string) => page.locator(`.opblock[id$="-${name}"]`);

  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    const { width, height: screen } = viewport;
    it(`opens each operation in at most two screens of ${width} x ${screen} px`, async () => {
      const heights = new Map<string, number>();
      await visit(given.browser, docs, { colorScheme: 'light', viewport }, async (page) => {
        await page.locator('.opblock').last().waitFor();
        expect(await page.locator('.opblock').count()).to.equal(operations.length);
        for (const name of operations) {
          const operation = operationOf(page, name);
          const control = operation.locator('.opblock-summary-control');
          await control.click();
          await operation.locator('.response').last().waitFor();
          heights.set(name, (await operation.boundingBox())?.height ?? Number.NaN);
          await control.click();
        }
      });
      const long = [...heights].filter(([, height]) => !(height <= 2 * screen));
      expect(long).to.deep.equal([]);
    });
  }

  it('says that it is not whole, whatever of it does not come', async () => {
    for (const [part, answer] of [
      ['**/openapi.json', { status: 429 }],
      ['**/openapi.json', { body: '{"info":' }],
      ['**/swagger-ui-bundle.js', { status: 429 }],
    ] as const) {
      await visit(given.browser, `${server.address}/livez`, undefined, async (page) => {
        await page.route(part, (route) => route.fulfill(answer));
        await page.goto(docs);
        await page.getByRole('alert').getByText('load it again').waitFor();
      });
    }
  });

  it('has samples that make what they say', async () => {
    const look = { colorScheme: 'light', viewport: { width: 1280, height: 800 } } as const;
    await visit(given.browser, `${docs}#/posts/createPost`, look, async (page) => {
      const operation = operationOf(page, 'createPost');
      await operation.locator('.response').last().waitFor();
      const sampleOf = async (name: string, idempotencyKey: string) => {
        const fold = operation.locator('details', { has: page.getByText(name, { exact: true }) });
        const text = (await fold.locator('pre').textContent()) ?? '';
        return text.replace('KEY', key).replace('3f2a9c5e-order-17', idempotencyKey);
      };
      await operation.getByRole('tab', { name: 'Schema' }).first().click();
      await operation.locator('.model-box').first().getByText('pattern').waitFor();
      const { stdout } = await execute('bash', ['-c', await sampleOf('curl', 'one')]);
      expect(JSON.parse(stdout)).to.include({ title: 'On engines', authorId: null });
      const javascript = await sampleOf('JavaScript', 'two');
      const logged = page.waitForEvent('console');
      await page.evaluate(`(async () => { ${javascript} })()`);
      expect(await (await logged).args()[0]?.jsonValue()).to.include({ title: 'On engines' });
      await operation.getByText('curl', { exact: true }).click();
      expect(await copied(page, operation)).to.match(/^curl .*\/posts \\\n[\s\S]*'$/);
    });
  });

  for (const look of looks) {
    const title = `${look.colorScheme}, ${look.viewport.width} px wide`;
    it(`leads to an operation that can be read and tried: ${title}`, async () => {
      await visit(given.browser, `${docs}#/users/listUsers`, look, async (page) => {
        const operation = operationOf(page, 'listUsers');
        await operation.locator('.response').last().waitFor();
        expect(await violationsIn(page)).to.deep.equal([]);
        await page.getByText('What any request may end in').click();
        await page.getByRole('link', { name: 'shutting-down' }).waitFor();
        await operation.getByText('JavaScript').click();
        await operation.getByText("await fetch('http").waitFor();

        await page.getByRole('button', { name: 'Authorize' }).first().click();
        const dialog = page.locator('.modal-ux');
        await dialog.getByRole('textbox').fill(key);
        await dialog.getByRole('button', { name: 'Authorize' }).click();
        await dialog.getByRole('button', { name: 'Close' }).last().click();

        const prefix = operation.locator('[data-param-name="name[startsWith]"]');
        expect(await prefix.isVisible()).to.equal(false);
        await operation.getByText(' more: ').click();
        await operation.getByRole('button', { name: 'Try it out' }).click();
        await prefix.getByRole('textbox').fill('ad');
        const asked: string[] = [];
        page.on('request', (request) => asked.push(request.url().replace(server.address, '')));
        await operation.getByRole('button', { name: 'Execute' }).click();
        await operation.locator('.live-responses-table').getByText('"users"').waitFor();
        const query = 'limit=100&sort=-createdAt&name%5BstartsWith%5D=ad';
        expect(asked).to.deep.equal([`/api/v1/users?${query}`]);
        await operation.getByRole('tab', { name: 'Schema' }).last().click();
        const schema = await operation.locator('.model-box').last().boundingBox();
        expect(schema?.width).to.be.above(200);
        expect(await violationsIn(page)).to.deep.equal([]);
      });
    });
  }
});
