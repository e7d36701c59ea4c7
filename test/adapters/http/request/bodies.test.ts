import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { maxBodyBytes } from '../../../../src/adapters/http/sizes.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { exchange, RawConnection } from '../support/raw.ts';

const mebibyte = 1024 * 1024;
const json = 'Content-Type: application/json\r\n';
const sized = ({ length }: string) => `Content-Length: ${length}\r\n`;
const post = (headers: string, body: string) =>
  `POST /api/v1/users HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`;
const chunked = 'Transfer-Encoding: chunked\r\n';
const get = 'GET /api/v1/users?limit=1 HTTP/1.1\r\nHost: x\r\n';

describe('a request body', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());

  /** Sends raw bytes (latin1) as the body of a POST. */
  async function expectRaw(body: string, status: number, code?: string, headers = json) {
    const answer = await exchange(api.server, post(`${headers}${sized(body)}`, body));
    const what = `${headers} ${body.slice(0, 80)}`;
    expect([answer?.status, answer?.body.code], what).to.deep.equal([status, code]);
    return answer;
  }

  it('is accepted with every spelling of its media type, and returns 415 with another type', async () => {
    const good = [
      '',
      ';charset=utf-8',
      '; charset="UTF-8"',
      ' ; CHARSET=Utf-8 ;',
      ';',
      '; version=1',
    ];
    for (const more of [...good, '; charset="\\utf-8"']) {
      const type = `Content-Type: Application/JSON${more}\r\n`;
      await expectRaw('{"name":"Ann"}', 201, undefined, type);
    }
    const charsets = ['latin1', 'utf8'];
    for (const type of [
      ...['text/plain', 'text/json', 'application/json-patch+json', 'application/merge-patch+json'],
      ...['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'],
      ...['application/jsonx', 'application/json, application/json', 'application', ''],
      ...charsets.map((charset) => `application/json; charset=${charset}`),
      'application/json charset=utf-8',
    ]) {
      const headers = `Content-Type: ${type}\r\n`;
      const answer = await expectRaw('{"name":"Ann"}', 415, 'unsupported-media-type', headers);
      expect(answer?.headers.get('accept-post')).to.equal('application/json');
    }
    const none = await expectRaw('{"name":"Ann"}', 415, 'unsupported-media-type', '');
    expect(none?.body.error).to.match(/Content-Type must be application\/json\.$/);
  });

  it('with another media type returns 415 with Accept-Patch for PATCH, and Accept for PUT', async () => {
    const { id } = await api.make('/users', { name: 'Ann' });
    const headers = { 'Content-Type': 'application/json-patch+json' };
    const patch = await api.send('PATCH', `/users/${id}`, headers, '[]');
    expectProblem(patch, 415, 'unsupported-media-type');
    expect(patch.headers.get('accept-patch')).to.equal(
      'application/merge-patch+json, application/json',
    );
    const put = await api.send('PUT', `/users/${id}`, headers, '[]');
    expectProblem(put, 415, 'unsupported-media-type');
    expect(put.headers.get('accept')).to.equal('application/json');
    expect(put.headers.has('accept-post') || put.headers.has('accept-patch')).to.equal(false);
  });

  it('of a PUT with Content-Range returns 400, because it is a part of a record', async () => {
    const { id } = await api.make('/users', { name: 'Ann' });
    const headers = { 'Content-Range': 'bytes 0-9/99' };
    const put = await api.send('PUT', `/users/${id}`, headers, { name: 'B' });
    expectProblem(put, 400, 'bad-request');
    expect((await api.get(`/users/${id}`)).body).to.include({ name: 'Ann' });
  });

  it('with a Content-Encoding other than identity returns 415', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip', 'x', '']) {
      const headers = `${json}Content-Encoding: ${encoding}\r\n`;
      const answer = await expectRaw('{"name":"Ann"}', 415, 'unsupported-media-type', headers);
      expect(answer?.headers.get('accept-encoding')).to.equal('identity');
    }
    for (const encoding of ['identity', 'Identity']) {
      const headers = `${json}Content-Encoding: ${encoding}\r\n`;
      await expectRaw('{"name":"Ann"}', 201, undefined, headers);
    }
  });

  it('that is not a JSON object returns 400 with the reason', async () => {
    const others = ['null', 'true', '"text"', '1', '[]', '[{"name":"Ann"}]'];
    const malformed = [
      ...[' \n', '{', '{"name":"Ann"', '{"name":"Ann"} x', '{"name":"Ann"}{}', '{"name":"Ann",}'],
      ...["{'name':'Ann'}", '{name:"Ann"}', '{"name":NaN}', '{"name":"\u0001"}', '{"name":"\\x"}'],
      ...['{"name":01}', '/**/{"name":"Ann"}', '\xa0{"name":"Ann"}', 'name=Ann'],
    ];
    for (const [bodies, why] of [
      [others, /^The body must be a JSON object\.$/],
      [malformed, /^The body is not (valid JSON: |UTF-8)/],
      [['{\n  name: "Ann"}'], /^The body is not valid JSON: .*line 2 column 3/],
      [[''], /is empty/],
    ] as const) {
      for (const body of bodies) {
        const answer = await expectRaw(body, 400, 'invalid-body');
        expect(answer?.body.error, body).to.match(why);
      }
    }
    for (const headers of ['', json]) {
      const answer = await exchange(api.server, post(headers, ''));
      expect([answer?.status, answer?.body.code]).to.deep.equal([400, 'invalid-body']);
    }
  });

  it('that is not UTF-8 returns 400', async () => {
    for (const bytes of ['\xff', '\xc3', '\xc0\x80', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\xe9']) {
      await expectRaw(`{"name":"Ann","own":"${bytes}"}`, 400, 'invalid-body');
      await expectRaw(`{"name":"Ann"}${bytes}`, 400, 'invalid-body');
    }
  });

  it('can begin with a byte order mark', async () => {
    await expectRaw('\xef\xbb\xbf{"name":"Ann"}', 201);
    await expectRaw('\xef\xbb\xbf', 400, 'invalid-body');
    await expectRaw('\xef\xbb\xbf\xef\xbb\xbf{"name":"Ann"}', 400, 'invalid-body');
  });

  it('uses the last value of a duplicate key', async () => {
    const answer = await expectRaw('{"name":"Ann","n\\u0061me":"Bea"}', 201);
    expect(answer?.body.name).to.equal('Bea');
  });

  it('with values that no record can have returns 422, at any depth', async () => {
    const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const objects = `{"name":"Ann","a":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}`;
    for (const [body, code] of [
      ['{"name":"Ann","a":{"__proto__":1}}', 'key'],
      ['{"name":"Ann","a":9007199254740993}', 'number-range'],
      ['{"name":"Ann","a":-1E400}', 'number-range'],
      [`{"name":"Ann","a":${arrays(17)}}`, 'too-deep'],
      [`{"name":"Ann","a":${arrays(500_000)}}`, 'too-deep'],
      [objects, 'too-deep'],
    ] as const) {
      const { errors } = (await expectRaw(body, 422, 'invalid-record'))?.body ?? {};
      expect(errors).to.have.lengthOf(1);
      expect(JSON.stringify(errors)).to.include(`"code":"${code}"`);
    }
    const { id } = await api.make('/users', { name: 'Ann' });
    const patch = await api.send('PATCH', `/users/${id}`, {}, objects);
    expectProblem(patch, 422, 'invalid-record');
  });

  it('returns 413 if it is a byte larger than the limit', async () => {
    const padded = (length: number) => `{"name":"Ann"${' '.repeat(length - 14)}}`;
    await expectRaw(padded(maxBodyBytes), 201);
    await expectRaw(padded(maxBodyBytes + 1), 413, 'body-too-large');
    const text = readFileSync(new URL('../../../../docs/http.md', import.meta.url), 'utf8');
    expect(text).to.include(`(${maxBodyBytes.toLocaleString('en-US')} bytes)`);
  });

  it('can be what GET returned, even for the largest record', async () => {
    for (const [path, body] of [
      ['/users', compactUser(mebibyte)],
      ['/posts', compactUser(mebibyte).replace('"name":', '"title":').replace('x', '')],
      // Longer or shorter here than in JSON.stringify's output, whose length counts.
      ['/users', compactUser(mebibyte - 6000, '\\u0001'.repeat(1000))],
      ['/users', compactUser(mebibyte - 8, '\u{10ffff}\u2028\u007f')],
    ] as const) {
      const made = await api.make(path, JSON.parse(body));
      const gotten = await api.get(`${path}/${made.id}`);
      expect(gotten.text.length).to.be.above(mebibyte - 6000);
      const put = await api.send('PUT', `${path}/${made.id}`, {}, gotten.text);
      expect([put.status, put.headers.get('etag')]).to.deep.equal([200, '"1"']);
      expect(put.text).to.equal(gotten.text);
    }
  });

  it('with a Content-Length over the limit is rejected before it is sent', async () => {
    const answer = await exchange(api.server, post(`${json}Content-Length: ${10 ** 12}\r\n`, ''));
    expect([answer?.status, answer?.body.code]).to.deep.equal([413, 'body-too-large']);
  });

  it('in chunks is rejected as soon as it is too large, and the client gets the response', async () => {
    const connection = new RawConnection(api.server).send(post(json + chunked, ''));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let i = 0; i < 64; i++) connection.send(chunk); // 4 MiB, without a last chunk.
    const answer = await connection.next();
    expect([answer?.status, answer?.body.code]).to.deep.equal([413, 'body-too-large']);
    connection.end();
    await connection.closed();
  });

  it('can be sent in chunks', async () => {
    const chunks =
      '8;ext=1\r\n{"name":\r\n6\r\n"\xc3\xa9\xc3\xa9x\r\n2\r\n"}\r\n0\r\nTrailer: x\r\n\r\n';
    const answer = await exchange(api.server, post(json + chunked, chunks));
    expect([answer?.status, answer?.body.name]).to.deep.equal([201, 'ééx']);
  });

  it('that is rejected leaves the connection usable for the next request', async () => {
    const connection = new RawConnection(api.server);
    const refused = [
      ['Content-Type: text/plain\r\n', '{"name":"Ann"}', 415],
      [json, '{"name":', 400],
      [json, '\xff', 400],
      [json, '{"name":5}', 422],
      ['Content-Type: text/plain\r\n', 'x'.repeat(mebibyte), 415],
    ] as const;
    for (const [headers, body, status] of refused) {
      connection.send(post(headers + sized(body), body));
      expect((await connection.next())?.status).to.equal(status);
      connection.send(`${get}\r\n`);
      expect((await connection.next())?.status).to.equal(200);
    }
    connection.socket.destroy();
  });

  it('is ignored for GET, HEAD, DELETE and OPTIONS, as is its media type', async () => {
    const { id } = await api.make('/users', { name: 'Ann' });
    const connection = new RawConnection(api.server);
    for (const [request, status] of [
      ['GET /api/v1/users', 200],
      [`GET /api/v1/users/${id}`, 200],
      [`HEAD /api/v1/users/${id}`, 200],
      ['OPTIONS /api/v1/users', 204],
      [`DELETE /api/v1/users/${id}`, 200],
      [`DELETE /api/v1/users/${id}`, 404],
    ] as const) {
      const body = request.startsWith('HEAD') ? '{"a":1,' : `\xff${'x'.repeat(100_000)}`;
      connection.send(
        `${request} HTTP/1.1\r\nHost: x\r\nContent-Type: text/x\r\nContent-Encoding: gzip\r\n${sized(body)}\r\n${body}`,
      );
      const answer = await connection.next(request.split(' ')[0]);
      expect(answer?.status, request).to.equal(status);
    }
    connection.send(`${get}${chunked}\r\n3\r\nabc\r\n0\r\n\r\n`);
    expect((await connection.next())?.status).to.equal(200);
    connection.send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await connection.next())?.status).to.equal(200);
    connection.socket.destroy();
  });

  it('that never ends does not delay the response to a GET', async () => {
    const answer = await exchange(api.server, `${get}Content-Length: ${10 ** 10}\r\n\r\nx`);
    expect(answer?.status).to.equal(200);
  });
});

/** Returns a user whose compact JSON has this many characters, plus `more`. */
function compactUser(length: number, more = ''): string {
  const frame = '{"name":"Ann","own":""}'.length;
  return `{"name":"Ann","own":"${'x'.repeat(length - frame)}${more}"}`;
}
