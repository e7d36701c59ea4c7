import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import Koa from 'koa';
import { rostrumMiddleware } from '../../../src/adapters/http/index.ts';
import { bytesOf, chunksOf, joined, type LongText } from '../../../src/adapters/http/long-text.ts';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { createRostrum } from '../../../src/index.ts';
import { type Api, callsTo, startApi } from './support/api.ts';
import { exchange, RawConnection } from './support/raw.ts';

const kibi = 1024;

describe('a list of texts', () => {
  const wholeOf = (body: string | LongText) => {
    const content = chunksOf(body);
    return typeof content === 'string' ? Buffer.from(content) : Buffer.concat(content);
  };

  it('is the same in pieces of bytes', () => {
    const long = fc.tuple(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(4 * kibi));
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      long.map(([one, n]) => one.repeat(n)),
    );
    const list = fc.array(text, { maxLength: 100, size: 'max' });
    fc.assert(
      fc.property(text, list, text, (front, texts, end) => {
        const whole = front + texts.join(',') + end;
        const body = joined(front, texts, end);
        const bytes = Buffer.from(whole);
        expect(bytesOf(body)).to.equal(bytes.length);
        expect(wholeOf(body).equals(bytes)).to.equal(true);
        const again = joined(front, texts, end);
        expect(typeof again === 'string' ? again : again.takeText()).to.equal(whole);
      }),
      { numRuns: 50 },
    );
  });

  for (const length of [64 * kibi - 1, 64 * kibi, 64 * kibi + 1]) {
    it(`of ${length} characters, with commas and ends, is ${length > 64 * kibi ? 'bytes' : 'text'}`, () => {
      const texts = ['\u00fc'.repeat(1000), 'x'.repeat(length - 1004)];
      const content = chunksOf(joined('[', texts, ']!'));
      expect(typeof content === 'string').to.equal(length <= 64 * kibi);
      const whole = typeof content === 'string' ? content : Buffer.concat(content).toString();
      expect(whole).to.equal(`[${texts.join()}]!`).with.lengthOf(length);
    });
  }

  it('has pieces of about one size, and longer ones for longer texts', () => {
    const sizes = (texts: readonly string[]) => {
      const content = chunksOf(joined('<', texts, '>'));
      return typeof content === 'string' ? [] : content.map(({ length }) => length);
    };
    const short = 'x'.repeat(kibi);
    expect(sizes(Array(80).fill(short))).to.deep.equal([32 * 1025, 32 * 1025, 16 * 1025 + 1]);
    expect(sizes([short, 'x'.repeat(100 * kibi), short])).to.deep.equal([101 * kibi + 2, 1026]);
  });

  it('is taken once, when it is long', () => {
    const body = joined('', Array(100).fill('x'.repeat(kibi)), '');
    expect(chunksOf(body)).to.have.length(4);
    expect(() => chunksOf(body)).to.throw('This text was taken before.');
  });
});

describe('a page that is longer than a short text', () => {
  const titles = Array.from({ length: 60 }, (_, n) => `${n} é 😀`);
  const body = '\u00fcber 😀'.repeat(800);
  let api: Api;
  before(async () => {
    api = await startApi();
    await Promise.all(titles.map((title) => api.make('/posts', { title, body })));
  });
  after(() => api[Symbol.asyncDispose]());

  const numberOf = (title: string) => Number(title.split(' ')[0]);

  /** The titles of a page that came whole, in their order. */
  function titlesOf(page: Record<string, unknown> | undefined): string[] {
    const posts = page?.posts as { title: string; body: string }[];
    for (const post of posts) expect(post.body).to.equal(body);
    return posts.map(({ title }) => title).sort((a, b) => numberOf(a) - numberOf(b));
  }

  it('comes whole, again and again on one connection', async () => {
    const connection = new RawConnection(api.server);
    for (let n = 0; n < 3; n++) {
      connection.send('GET /api/v1/posts?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n');
      const page = await connection.next();
      expect(titlesOf(page?.body)).to.deep.equal(titles);
      expect(page?.headers.get('connection')).to.equal('keep-alive');
    }
    connection.end();
  });

  it('has its length in HEAD', async () => {
    const page = await api.get('/posts?limit=1000');
    const head = await api.send('HEAD', '/posts?limit=1000');
    expect(head.headers.get('content-length')).to.equal(page.headers.get('content-length'));
  });

  it('is sent before the body of its request has arrived', async () => {
    const headers = 'Host: localhost\r\nContent-Length: 5\r\n\r\n';
    const page = await exchange(api.server, `GET /api/v1/posts?limit=1000 HTTP/1.1\r\n${headers}`);
    expect(titlesOf(page?.body)).to.deep.equal(titles);
  });

  it('comes through an app of Koa, whose middleware may change it', async () => {
    const rostrum = createRostrum(createMemoryStore());
    for (const title of titles) await rostrum.posts.create({ title, body });
    const app = new Koa();
    app.use(async (ctx, next) => {
      await next();
      ctx.body = (ctx.body as string).replace('59 é', '59 è');
    });
    app.use(rostrumMiddleware(rostrum, { prefix: '' }));
    const server = createServer(app.callback()).listen(0, '127.0.0.1');
    try {
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const page = await callsTo(`http://127.0.0.1:${port}`).get('/posts?limit=1000');
      expect(titlesOf(page.body)).to.deep.equal([...titles.slice(0, 59), '59 è 😀']);
      expect(page.headers.get('content-type')).to.equal('application/json');
    } finally {
      server.close();
    }
  });
});
