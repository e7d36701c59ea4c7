import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import '../../examples/sources.mjs';
import { type Term, termsOf, wordsOf } from '../../examples/followers/words.ts';
import { createClient, type Post } from '../../packages/rostrum-client/src/index.ts';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum, type Scope } from '../../src/index.ts';
import { startApi } from '../adapters/http/support/api.ts';
import { as, authenticate } from '../adapters/http/support/callers.ts';
import { errorOf } from '../support/error-of.ts';
import { temporaryDirectory } from '../support/repository-copy.ts';
import { until } from '../support/until.ts';

const { indexPosts, mustStartAgain } = await import('../../examples/followers/search-index.ts');
const { searchHandler } = await import('../../examples/followers/search-server.ts');
const { SqliteSearch } = await import('../../examples/followers/sqlite-search.ts');

/** Returns the token of a caller with these scopes. */
const tokenOf = (scopes: readonly Scope[]) => as({ scopes }).Authorization.slice('Bearer '.length);

const meets =
  (words: readonly string[]) =>
  ({ word, isPrefix }: Term) =>
    words.some((one) => (isPrefix ? one.startsWith(word) : one === word));

/** Returns true if a query finds a text. */
const finds = (query: string, text: string) => termsOf(query).every(meets(wordsOf(text)));

describe('the words of the search example', () => {
  const found: Readonly<Record<string, readonly [text: string, ...queries: string[]]>> = {
    Latin: ['Crème BRÛLÉE, naïvely', 'creme brulee', 'CRÈME', 'crème bru', 'naiv'],
    German: ['Die Straße ist groß.', 'STRASSE', 'strasse', 'straße', 'STRAẞE', 'gros'],
    Turkish: ['İstanbul ılık', 'istanbul', 'ISTANBUL', 'ilik', 'ILIK'],
    Greek: ['Ο Σίσυφος ανέβηκε', 'ΣΊΣΥΦΟΣ', 'σισυφος', 'ΣΊΣ', 'ανεβηκε'],
    Cyrillic: ['Ёлка и Йод', 'елка', 'ЁЛКА', 'иод', 'йод'],
    Hebrew: ['שָׁלוֹם עולם', 'שָׁלוֹם', 'עולם', 'עול'],
    Arabic: ['مرحبا بالعالم', 'مرحبا', 'بالع'],
    Hindi: ['हिन्दी में लिखना', 'हिन्दी', 'लिख'],
    Thai: ['ภาษาไทยง่าย', 'ภาษา', 'ไทย', 'ง่าย', 'ย'],
    Japanese: ['東京タワーは高い。猫', '東京', 'タワー', 'ﾀﾜｰ', '高い', '猫', 'は'],
    Chinese: ['我喜欢全文搜索', '全文搜索', '喜欢', '欢', '索'],
    Korean: ['한국어를 배우는 책을', '한국어', '책 배우', '책'],
    Khmer: ['ភាសាខ្មែរ', 'ភាសា', 'ខ្មែរ'],
    Myanmar: ['မြန်မာဘာသာ', 'မြန်မာ', 'ဘာသာ'],
    'full width': ['ＡＢＣ ﬁne', 'abc', 'fine'],
    digits: ['Version 2026, 1️⃣', '2026', '20', '1'],
    'hidden characters': ['Silben\u00adtrennung می\u200cخواهم', 'silbentrennung', 'می\u200cخواهم'],
    punctuation: ["don't stop: hexagonal-architecture", "don't", 'hexagonal arch', '…stop?'],
  };
  for (const [script, [text, ...queries]] of Object.entries(found)) {
    it(`find texts in their script: ${script}`, () => {
      for (const query of queries) expect(finds(query, text), query).to.equal(true);
    });
  }

  it('keep different words apart', () => {
    const pairs = [
      ['हिन्दा', 'हिन्दी'],
      ['שלום', 'שָׁלוֹם'],
      ['が', 'か'],
      ['京東', '東京'],
      ['arch', 'monarch'],
      ['arch ', 'architecture'],
      ['a', 'abc'],
      ['hex b', 'hexagonal b'],
    ] as const;
    for (const [query, text] of pairs) expect(finds(query, text), query).to.equal(false);
  });

  it('find every text by itself, in any case and normal form', () => {
    const characters = 'aéßÀΣςάЙйдşı東京タがภาษาहिन्दी한שָ1 ２-.\u00ad😀';
    const text = fc.string({ unit: fc.constantFrom(...characters), maxLength: 20 });
    fc.assert(
      fc.property(text, (text) => {
        const forms = [text, text.toUpperCase(), text.normalize('NFD'), text.normalize('NFKC')];
        for (const form of forms) {
          expect(wordsOf(form)).to.deep.equal(wordsOf(text));
          expect(finds(form, text)).to.equal(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('consist of letters, marks and digits only, in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
        for (const word of wordsOf(text)) expect(word).to.match(/^[\p{L}\p{M}\p{N}]+$/u);
        expect(finds(text, text)).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('are found by any part of a text in a script without spaces', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'東京タワーกขฃ한국'),
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(text, fc.nat(), fc.nat(), (text, a, b) => {
        const start = a % text.length;
        const part = text.slice(start, start + 1 + (b % 10));
        expect(finds(part, text)).to.equal(true);
      }),
    );
  });

  it('have limits', () => {
    const long = 'x'.repeat(100);
    expect(wordsOf(long)).to.deep.equal(['x'.repeat(64)]);
    expect(finds(long, long)).to.equal(true);
    const many = Array.from({ length: 5000 }, (_, n) => `w${n}`).join(' ');
    expect(wordsOf('title', many)).to.have.length(4000).and.include('w3998');
    expect(termsOf(many)).to.have.length(32);
  });
});

describe('the SQLite search example', () => {
  const scope = new AsyncDisposableStack();
  let folder: string;
  let files = 0;
  before(async () => {
    folder = scope.use(await temporaryDirectory()).path;
  });
  after(() => scope.disposeAsync());

  const newFile = () => join(folder, `search-${++files}.db`);
  const postOf = (n: number, title: string, publishedAt: string | null): Post => {
    const at = '2026-01-01T00:00:00.000Z';
    return {
      id: `p${n}`,
      title,
      body: '',
      authorId: null,
      publishedAt,
      createdAt: at,
      updatedAt: at,
    };
  };

  it('finds the public posts that match, the last published first, on all pages', async () => {
    const words = ['alpha', 'alphabet', 'beta', 'gamma', '東京', '京都'];
    const text = fc.array(fc.constantFrom(...words), { maxLength: 4 }).map((all) => all.join(' '));
    const time = fc.constantFrom(
      null,
      ...[1, 1, 1, 2, 3].map((n) => `2026-01-01T00:00:0${n}.000Z`),
      ...['0001-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
    );
    const change = fc.oneof(
      { weight: 4, arbitrary: fc.tuple(fc.nat({ max: 20 }), text, time) },
      fc.tuple(fc.nat({ max: 20 })),
    );
    const query = fc.tuple(text, fc.constantFrom('', ' al', ' alpha ', ' 京'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 60 }),
        fc.array(query, { minLength: 5, maxLength: 5 }),
        async (changes, queries) => {
          const search = new SqliteSearch(':memory:');
          const posts = new Map<string, Post>();
          for (const [n, title, publishedAt = null] of changes) {
            posts.delete(`p${n}`);
            if (title === undefined) await search.deleteDocuments([`p${n}`]);
            else {
              const post = postOf(n, title, publishedAt);
              posts.set(post.id, post);
              await search.updateDocuments([post]);
            }
          }
          for (const [first, last] of queries) {
            const expected = [...posts.values()].filter(
              ({ title, publishedAt }) =>
                termsOf(first + last).length > 0 &&
                finds(first + last, title) &&
                publishedAt !== null &&
                publishedAt < '2900',
            );
            const ids: string[] = [];
            let after: number | undefined;
            do {
              const page = search.find(first + last, { limit: 3, ...(after && { after }) });
              ids.push(...page.ids);
              after = page.next;
            } while (after !== undefined && ids.length <= posts.size);
            expect([...ids].sort()).to.deep.equal(expected.map(({ id }) => id).sort());
            const times = ids.map((id) => posts.get(id)?.publishedAt ?? '');
            expect(times).to.deep.equal([...times].sort().reverse());
          }
          search.close();
        },
      ),
    );
  });

  it('answers 500 queries as if 200 hidden posts were not there', async () => {
    const [all, visible] = [new SqliteSearch(':memory:'), new SqliteSearch(':memory:')];
    for (let n = 0; n < 300; n++) {
      const day = new Date(Date.UTC(2026, 0, 1 + (n % 7))).toISOString();
      const at = [day, null, '2999-01-01T00:00:00.000Z'][n % 3] ?? null;
      const post = { ...postOf(n, `w${n % 50} v${n % 11}`, day), publishedAt: at };
      await all.updateDocuments([post]);
      if (n % 3 === 0) await visible.updateDocuments([post]);
    }
    for (let n = 0; n < 500; n++) {
      const query = [`w${n % 50}`, `w${n % 50} v${n % 11}`, `v${n % 11}`, 'w1', 'v1 '][n % 5] ?? '';
      for (let after: number | undefined; ; ) {
        const options = { limit: 3, ...(after && { after }) };
        const page = all.find(query, options);
        expect(page, query).to.deep.equal(visible.find(query, options));
        after = page.next;
        if (after === undefined) break;
      }
    }
    for (const search of [all, visible]) search.close();
  });

  it('follows a server, across restarts of both', async () => {
    const store = createMemoryStore();
    const { posts } = createRostrum(store);
    await using api = await startApi({ store });
    const client = createClient({ url: `${api.server.url}/api/v1` });
    const file = newFile();
    const follow = () => {
      const search = new SqliteSearch(file);
      const ended = new AbortController();
      const running = errorOf(indexPosts(client, search, search, ended.signal));
      const stop = async () => {
        ended.abort();
        await running;
        search.close();
      };
      return { search, running, stop };
    };
    const idOf = async (title: string, body = '', publishedAt?: null) =>
      (await posts.create({ title, body, publishedAt })).record.id;

    const hexagons = await idOf('Hexagons', 'Ports and adapters: the hexagonal architecture.');
    await idOf('A draft about hexagons', '', null);
    const first = follow();
    await until(() => first.search.find('hexagonal arch').ids.length === 1, 'the post is found');
    expect(first.search.find('hexag').ids).to.deep.equal([hexagons]);
    const bees = await idOf('Bees', 'They build hexagons.');
    await until(() => first.search.find('hexagons').ids.length === 2, 'the new post is found');
    expect(first.search.find('hexagons').ids).to.deep.equal([bees, hexagons]);
    await first.stop();

    await posts.patch(hexagons, { title: 'Circles', body: 'No corners.' });
    await posts.delete(bees);
    const second = follow();
    await until(() => second.search.find('corners').ids.length === 1, 'the change is found');
    expect(second.search.find('hexa').ids).to.deep.equal([]);
    await second.stop();
  });

  it('starts again if it was interrupted before it had listed all posts', async () => {
    const search = new SqliteSearch(':memory:');
    await search.updateDocuments([postOf(1, 'gone', '2026-01-01T00:00:00.000Z')]);
    expect(search.find('gone').ids).to.deep.equal(['p1']);
    expect(await search.load()).to.equal(undefined);
    expect(search.find('gone').ids).to.deep.equal([]);
    await search.updateDocuments([postOf(2, 'here', '2026-01-01T00:00:00.000Z')]);
    await search.save('1.1');
    expect(await search.load()).to.equal('1.1');
    expect(search.find('here').ids).to.deep.equal(['p2']);
    search.close();
  });

  it('starts again after its position has expired', async () => {
    const store = createMemoryStore();
    const { posts } = createRostrum(store);
    await using api = await startApi({ store });
    const client = createClient({ url: `${api.server.url}/api/v1` });
    const search = new SqliteSearch(newFile());
    await search.updateDocuments([postOf(1, 'gone', '2026-01-01T00:00:00.000Z')]);
    await search.save('1.1');
    const ended = new AbortController();
    const error = await errorOf(indexPosts(client, search, search, ended.signal));
    expect(mustStartAgain(error)).to.equal(true);
    search.clear();
    const { id } = (await posts.create({ title: 'here' })).record;
    const running = errorOf(indexPosts(client, search, search, ended.signal));
    await until(() => search.find('here').ids[0] === id, 'the post is found');
    expect(search.find('gone').ids).to.deep.equal([]);
    ended.abort();
    await running;
    search.close();
  });

  it('serves each caller the posts that the caller is allowed to see', async () => {
    const store = createMemoryStore();
    const { posts } = createRostrum(store);
    await using api = await startApi({ store, app: { authenticate, anonymous: ['posts:read'] } });
    const url = `${api.server.url}/api/v1`;
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      const publishedAt = new Date(Date.UTC(2026, 0, 1 + n)).toISOString();
      // Twenty of these have more than 1 MiB, the limit of a page.
      const body = 'long '.repeat(15_000);
      ids.unshift((await posts.create({ title: `Post ${n}`, body, publishedAt })).record.id);
    }
    await posts.create({ title: 'Secret post', publishedAt: null });
    const scheduled = '2999-01-01T00:00:00Z';
    await posts.create({ title: 'Later post', publishedAt: scheduled });
    const search = new SqliteSearch(':memory:');
    const ended = new AbortController();
    const client = createClient({ url, token: tokenOf(['posts:read:all']) });
    const running = errorOf(indexPosts(client, search, search, ended.signal));
    await until(() => search.find('post', { limit: 100 }).ids.length === 25, 'all are found');
    const server = createServer(searchHandler(url, search)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = async (query: string, token?: string) => {
      const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
      const response = await fetch(`http://127.0.0.1:${port}${query}`, { headers });
      const { posts, next } = (await response.json()) as { posts?: Post[]; next?: number };
      return { status: response.status, ids: posts?.map(({ id }) => id), next };
    };

    const first = await ask('/search?q=pos');
    expect(first.ids).to.deep.equal(ids.slice(0, 20));
    const second = await ask(`/search?q=pos&after=${first.next}`);
    expect(second).to.deep.equal({ status: 200, ids: ids.slice(20), next: null });
    expect(await ask('/search?q=secret')).to.deep.equal({ status: 200, ids: [], next: null });
    expect((await ask('/search?q=later+post')).ids).to.deep.equal([]);
    expect((await ask('/search')).ids).to.deep.equal([]);
    for (const query of ['post', 'nothing']) {
      expect((await ask(`/search?q=${query}`, tokenOf(['users:read']))).status).to.equal(403);
      expect((await ask(`/search?q=${query}`, 'unknown')).status).to.equal(401);
    }
    expect((await ask('/other')).status).to.equal(404);
    // A post that became a draft is hidden, even before the index knows.
    ended.abort();
    await running;
    await posts.patch(ids[0] ?? '', { publishedAt: null });
    expect((await ask('/search?q=pos')).ids).to.deep.equal(ids.slice(1, 20));
    server.close();
    search.close();
  });
});
