import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { folderBlobs } from '../../examples/accounts/blobs.ts';
import { createImages } from '../../examples/accounts/images.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum } from '../../src/index.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { Blog, type Member } from './support/blog.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** A PNG with a script in a text chunk, as in the comment of a photo. */
const withScript = Buffer.concat([png, Buffer.from('tEXtComment\0<script>alert(1)</script>')]);

describe('writing in the accounts example', function () {
  this.timeout(60_000);
  let blog: Blog;
  let ada: Member;
  let authorization: string;

  before(async () => {
    blog = await Blog.start();
    ada = await blog.member('Ada');
    authorization = `Bearer ${await ada.token()}`;
  });
  after(() => blog?.[Symbol.asyncDispose]());

  const post = (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = { authorization },
  ) => fetch(blog.url + path, { method: 'POST', headers, body });
  const upload = (bytes: Uint8Array, headers?: Record<string, string>) =>
    post('/images', new Uint8Array(bytes), headers);
  const addressOf = async (response: Response) =>
    ((await response.json()) as { path: string }).path;
  const stored = () => readdir(join(blog.data, 'images'));

  let posts = 0;
  /** Publishes a post, and returns the HTML of its body. */
  async function render(body: string, format: string | null = 'markdown'): Promise<string> {
    const slug = `rendered-${++posts}`;
    await ada.client.posts.create({ title: 'x', slug, body, format });
    const page = await blog.text(`/posts/${slug}`);
    return /<div class="body">([\s\S]*)<\/div>\s*<\/article>/.exec(page)?.[1]?.trim() ?? '';
  }

  it('renders Markdown, and the HTML of imported posts', async () => {
    expect(await render('# A\n\n*b* [c](https://example.com)\n\n| d |\n|---|\n| e |')).to.equal(
      '<h2>A</h2>\n<p><em>b</em> <a href="https://example.com" rel="nofollow ugc">c</a></p>\n' +
        '<table>\n<thead>\n<tr>\n<th>d</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>e</td>\n</tr>\n</tbody>\n</table>',
    );
    expect(await render('```\n<a>\n\n\n*b*\n```')).to.equal(
      '<pre><code>&lt;a&gt;\n\n\n*b*\n</code></pre>',
    );
    const image = 'https://old.example/a.png';
    expect(await render(`<p>*a*<img src="${image}"></p>`, null)).to.equal(
      `<p>*a*<img alt="" src="${image}" loading="lazy" /></p>`,
    );
    const wordpress = 'One <b>bold</b>\nline.\n\n<h2>Two</h2>\n\nThree';
    expect(await render(wordpress, null)).to.equal(
      '<p>One <b>bold</b>\nline.</p>\n<h2>Two</h2>\n<p>Three</p>',
    );
    const linked = '<a href="https://old.example/"><img src="/a.png"></a>';
    for (const [picture, shown] of [
      ['<img src="/a.png">', /^<img [^>]*>$/],
      [linked, /^<a [^>]*><img [^>]*><\/a>$/],
    ] as const) {
      const figure = await render(
        `[caption id="a" width="9"]${picture} A <b>cat</b>[/caption]`,
        null,
      );
      const [, image, text] =
        /^<figure>(.*)<figcaption>(.*)<\/figcaption><\/figure>$/.exec(figure) ?? [];
      expect(image, figure).to.match(shown);
      expect(text).to.equal(' A <b>cat</b>');
    }
    // As many beginnings as a body can have, in no more time than other text.
    expect(await render('[caption]'.repeat(50_000), null)).to.contain('[caption]');
  });

  const attacks = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)><script>alert(1)</script></svg>',
    '<iframe src="javascript:alert(1)"></iframe>',
    '<a href="javascript:alert(1)">a</a>',
    '<a href="jav&#x09;ascript:alert(1)">a</a>',
    '[a](javascript:alert(1))',
    '[a](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
    '![a](javascript:alert(1) "onerror=alert(1)")',
    '![" onerror="alert(1)](/a.png)',
    '<p style="position:fixed" class="top" id="view" onclick="alert(1)">a</p>',
    '<form action="https://evil.example"><input name="password"><button>a</button></form>',
    '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<base href="https://evil.example"><meta http-equiv="refresh" content="0;url=//evil.example">',
    '<object data="x"></object><embed src="x"><link rel="stylesheet" href="//evil.example">',
    `${'>'.repeat(20_000)}<script>alert(1)</script>`,
    `${'<div><p>'.repeat(20_000)}<script>alert(1)</script>`,
  ];
  const harmless =
    /^<(?:\/?(?:p|a|blockquote|table)|a rel="[^"]*"|a href="https?:[^"]*" rel="[^"]*"|img (?:src="(?:\/a.png|x)" )?alt="[^"]*"( src="(?:\/a.png|x)")?( title="[^"]*")? loading="lazy" \/)>$/;
  for (const format of ['markdown', null]) {
    it(`removes scripts from ${format ?? 'HTML'}`, async () => {
      for (const attack of attacks) {
        for (const [tag] of (await render(attack, format)).matchAll(/<[^>]*>?/g)) {
          expect(tag, attack).to.match(harmless);
        }
      }
    });
  }

  it('escapes names, tags and titles', async () => {
    const evil = '"><script>alert(1)</script>';
    await ada.client.me.patch({ name: evil, about: evil });
    await ada.client.posts.create({ title: evil, slug: 'evil', tags: [evil] });
    const tag = encodeURIComponent(evil);
    for (const path of ['/', '/posts/evil', `/tags/${tag}`, `/authors/${ada.id}`, `/?q=${tag}`]) {
      const page = await blog.text(path);
      expect(page, path).to.contain('&lt;script&gt;').and.not.to.contain('<script');
    }
    await ada.client.me.patch({ name: 'Ada', about: null });
  });

  it('previews a text for members, as readers would see it', async () => {
    const page = await (await post('/preview?format=markdown', '*a* <script>b</script>')).text();
    expect(page).to.contain('<p><em>a</em> </p>').and.not.to.contain('script');
    expect((await post('/preview', 'a', {})).status).to.equal(401);
  });

  it('stores an image under its hash, once, with the type of its content', async () => {
    const response = await upload(png, { authorization, 'content-type': 'text/html' });
    expect(response.status).to.equal(201);
    const path = await addressOf(response);
    expect(path).to.match(/^\/images\/[0-9a-f]{64}\.png$/);
    expect(await addressOf(await upload(png))).to.equal(path);
    const image = await blog.get(path);
    expect(image.headers.get('content-type')).to.equal('image/png');
    expect(image.headers.get('cache-control')).to.contain('immutable');
    expect(Buffer.from(await image.arrayBuffer())).to.deep.equal(png);
    const slug = 'with-image';
    const { url } = blog;
    await ada.client.posts.create({ title: 'x', slug, body: `![a](${path})`, format: 'markdown' });
    expect(await blog.text(`/posts/${slug}`)).to.contain(
      `property="og:image" content="${url}${path}"`,
    );
  });

  it('serves a script in the metadata of an image as an image only', async () => {
    const image = await blog.get(await addressOf(await upload(withScript)));
    expect(image.headers.get('content-type')).to.equal('image/png');
    expect(image.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(image.headers.get('content-security-policy')).to.contain('sandbox');
  });

  it('rejects SVG, a zip named as a PNG, HTML and nothing', async () => {
    const before = await stored();
    for (const content of ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'PK\x03\x04', '<p>', '']) {
      const response = await upload(Buffer.from(content), {
        authorization,
        'content-type': 'image/png',
      });
      expect([response.status, await response.text()].join(), content).to.match(/^415,.*PNG/);
    }
    expect(await stored()).to.deep.equal(before);
  });

  it('rejects an upload of 100 MB before it has arrived', async () => {
    const before = await stored();
    for (const headers of [{ 'content-length': 100_000_000 }, { 'transfer-encoding': 'chunked' }]) {
      let sent = 0;
      const status = await new Promise((resolve) => {
        const sending = request(`${blog.url}/images`, {
          method: 'POST',
          headers: { authorization, ...headers },
        });
        let ended = false;
        sending.once('response', (response) => {
          ended = true;
          sending.destroy();
          resolve(response.statusCode);
        });
        // The server can close the connection before the client has read the response.
        sending.on('error', ({ code }: NodeJS.ErrnoException) => {
          ended = true;
          resolve(code);
        });
        const chunk = Buffer.concat([png, Buffer.alloc(64 * 1024)]);
        const write = () => {
          while (!ended && sent < 100_000_000) {
            sent += chunk.length;
            if (!sending.write(chunk)) return sending.once('drain', write);
          }
          return sending;
        };
        write();
      });
      expect(status).to.be.oneOf([413, 'EPIPE', 'ECONNRESET']);
      expect(sent).to.be.below(50_000_000);
    }
    expect(await stored()).to.deep.equal(before);
  });

  it('does not leave the folder of the images', async () => {
    for (const path of [
      '../secret',
      '..%2fsecret',
      '%2e%2e/secret',
      `${'a'.repeat(64)}.png/../../secret`,
    ]) {
      const status = await new Promise((resolve, reject) => {
        // Not with fetch, which would resolve the path.
        const sending = request(blog.url, { path: `/images/${path}` }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sending.on('error', reject).end();
      });
      expect(status, path).to.be.oneOf([400, 404]);
    }
  });

  it('accepts neither a cookie nor another site for uploads and previews', async () => {
    const cookie = 'better-auth.session_token=x';
    for (const path of ['/images', '/preview']) {
      const response = await post(path, new Uint8Array(png), {
        cookie,
        origin: 'https://evil.example',
      });
      expect(response.status, path).to.equal(401);
      expect(response.headers.get('access-control-allow-origin')).to.equal(null);
    }
  });
});

describe('the images of the accounts example', () => {
  it('are deleted when no post has used them for a day', async () => {
    await using directory = await temporaryDirectory();
    const blobs = folderBlobs(join(directory.path, 'images'));
    const { posts } = createRostrum(createMemoryStore());
    const images = createImages(blobs, new DatabaseSync(':memory:'), posts);
    const [hour, day] = [3_600_000, 86_400_000];
    const name = await images.add(png, 'png', 'ada', 0);
    const exists = async () => (await images.get(name)) !== undefined;
    const { record } = await posts.create({
      title: 'x',
      body: `![](/images/${name})`,
      publishedAt: null,
    });
    await images.sweep(2 * day);
    expect(await exists(), 'used').to.equal(true);
    await posts.patch(record.id, { body: '' });
    await images.sweep(2 * day + hour);
    await images.sweep(3 * day);
    expect(await exists(), 'unused for less than a day').to.equal(true);
    await posts.patch(record.id, { body: name });
    await images.sweep(3 * day + hour);
    await posts.delete(record.id);
    await images.sweep(4 * day);
    expect(await exists(), 'used again meanwhile').to.equal(true);
    await images.sweep(5 * day);
    expect(await exists(), 'unused for a day').to.equal(false);
    const again = await images.add(png, 'png', 'ada', 6 * day);
    expect(again).to.equal(name);
  });

  it('are limited for each account and day', async () => {
    await using directory = await temporaryDirectory();
    const { posts } = createRostrum(createMemoryStore());
    const images = createImages(folderBlobs(directory.path), new DatabaseSync(':memory:'), posts);
    const add = (n: number, account: string, now: number) =>
      images.add(Buffer.concat([png, Buffer.from([n])]), 'png', account, now).then(
        () => 201,
        ({ status }: { status: number }) => status,
      );
    for (let n = 0; n < 100; n++) expect(await add(n, 'ada', 1)).to.equal(201);
    expect(await add(100, 'ada', 1)).to.equal(429);
    expect(await add(100, 'grace', 1)).to.equal(201);
    expect(await add(101, 'ada', 86_400_002)).to.equal(201);
  });
});
