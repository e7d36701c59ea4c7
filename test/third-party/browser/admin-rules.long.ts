// Tests `/admin` in Chromium with a rule of the embedder's own.

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { refused } from '../../../src/index.ts';
import { type Api, startApi } from '../../adapters/http/support/api.ts';
import { inChromium, looks, violationsIn } from './chromium.ts';

const reason = 'Only editors publish.';

describe('/admin with a rule', function () {
  this.timeout(60_000);
  const given = inChromium();
  let api: Api;

  before(async () => {
    api = await startApi({
      core: {
        rules: {
          posts: ({ after }) => {
            if (after !== undefined && after.publishedAt !== null) throw refused(reason);
          },
          users: ({ after }) => {
            if (after?.name === 'root') throw refused('Choose another name.');
          },
        },
      },
    });
  });
  after(() => api?.[Symbol.asyncDispose]());

  for (const look of looks) {
    const { colorScheme, viewport } = look;
    it(`shows its reason at the form and keeps the text, ${colorScheme}, ${viewport.width}`, async () => {
      const context = await given.browser.newContext(look);
      const open = async (hash: string) => {
        const page = await context.newPage();
        page.setDefaultTimeout(20_000);
        await page.goto(`${api.server.url}/admin#/${hash}`);
        return page;
      };
      const press = (page: Page, name: string) => page.getByRole('button', { name }).click();
      const refusal = (page: Page, text: string) =>
        page.getByRole('alert').getByText(text).waitFor();

      const { id } = await api.make('/posts', { title: 'Draft', publishedAt: null });
      const post = await open(`posts/${id}`);
      await post.getByLabel('Title').fill('Typed');
      await post.getByLabel('Publication').selectOption('Publish now');
      await press(post, 'Save');
      await refusal(post, reason);
      expect(await post.getByLabel('Title').inputValue()).to.equal('Typed');
      expect(await violationsIn(post)).to.deep.equal([]);
      const { body } = await api.get(`/posts/${id}`);
      expect([body.title, body.publishedAt]).to.deep.equal(['Draft', null]);

      const user = await open('new/users');
      await user.getByLabel('Name').fill('root');
      await press(user, 'Create');
      await refusal(user, 'Choose another name.');
      expect(await user.getByLabel('Name').inputValue()).to.equal('root');
      await context.close();
    });
  }
});
