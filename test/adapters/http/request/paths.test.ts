import { expect } from 'chai';
import { endpointsFor } from '../../../../src/adapters/http/endpoints/index.ts';
import { type Api, expectProblem, startApi } from '../support/api.ts';
import { exchange } from '../support/raw.ts';

const endpoints = endpointsFor({});

describe('paths and methods', () => {
  let api: Api;
  let id = '';
  before(async () => {
    api = await startApi();
    ({ id } = await api.make('/users', { name: 'Ann' }));
  });
  after(() => api[Symbol.asyncDispose]());

  /** Sends the target as it is, without the normalization of a URL parser. */
  async function raw(method: string, target: string) {
    const answer = await exchange(api.server, `${method} ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return [answer?.status, answer?.body.code];
  }

  it('are the documented endpoints, each with one handler', () => {
    const pairs = endpoints.map(({ method, path }) => `${method} ${path}`);
    const ofOne = ['GET', 'PUT', 'PATCH', 'DELETE'];
    const all = ['users', 'posts'].flatMap((many) => [
      ...['GET', 'POST'].map((method) => `${method} /${many}`),
      ...ofOne.map((method) => `${method} /${many}/:id`),
    ]);
    const ofMe = ofOne.map((method) => `${method} /users/me`);
    expect(pairs).to.have.members([...ofMe, ...all, 'GET /events']);
  });

  it('an unknown path returns 404', async () => {
    for (const path of [
      ...['/api', '/api/v1', '/api/v1/', '/api/v2/users', '/API/v1/users', '/api/v1/Users'],
      ...['/api/v1/users/', '/api/v1//users', '//api/v1/users', `/api/v1/users/${id}/`],
      ...[`/api/v1/users//${id}`, `/api/v1/users/${id}/posts`, '/api/v1/users%2F'],
      ...['/api%2Fv1/users', '/api/v1/problems/internal', '/problems//'],
      ...['/livez/', '/favicon.png'],
    ]) {
      expect(await raw('GET', path), path).to.deep.equal([404, 'path-not-found']);
      expect(await raw('TRACE', path), path).to.deep.equal([404, 'path-not-found']);
    }
    for (const path of ['/problems/none', '/problems/constructor']) {
      expect(await raw('GET', path), path).to.deep.equal([404, 'path-not-found']);
    }
  });

  it('the 404 names the paths of the API', async () => {
    for (const path of ['/users/', '/../users', '/comments']) {
      const { error } = expectProblem(await api.get(path), 404, 'path-not-found');
      expect(error, path).to.contain('/api/v1/users').and.contain('no trailing slash');
    }
  });

  it('an impossible id returns 404, like an unknown one', async () => {
    const encoded = ['%20', '%00', '%2F', 'a%2Fb', '%F0%9F%98%80', '%2e%2e'];
    for (const text of ['x', '..', '.', '*', ...encoded, 'x'.repeat(10_000)]) {
      expect(await raw('GET', `/api/v1/users/${text}`)).to.deep.equal([404, 'user-not-found']);
      expect(await raw('DELETE', `/api/v1/posts/${text}`)).to.deep.equal([404, 'post-not-found']);
    }
  });

  it('segments are decoded after splitting', async () => {
    expect(
      await raw('GET', `/api/v1/users/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`),
    ).to.deep.equal([200, undefined]);
    expect(await raw('GET', '/%61pi/v1/%75sers')).to.deep.equal([200, undefined]);
    expect(await raw('GET', `/api/v1/users%2F${id}`)).to.deep.equal([404, 'path-not-found']);
  });

  it('malformed percent-encoding returns 400', async () => {
    const ids = ['%ZZ', '%', '%f', '%FF', '%ED%A0%80', '%C0%80'];
    const others = ['/%ZZ', '/api/v1/%ZZ', '/api/v1/posts/x/%ZZ', '/problems/%ZZ'];
    for (const path of [...ids.map((text) => `/api/v1/users/${text}`), ...others]) {
      for (const method of ['GET', 'POST', 'TRACE', 'OPTIONS']) {
        expect(await raw(method, path), path).to.deep.equal([400, 'invalid-path']);
      }
    }
  });

  it('a target with a fragment or non-ASCII characters returns 400', async () => {
    for (const target of ['/api/v1/users/\xc3\xa9', '/api/v1/users#x']) {
      const [status, code] = await raw('GET', target);
      expect(status, target).to.equal(400);
      expect(['invalid-path', 'bad-request']).to.include(code);
    }
    const [status] = await raw('GET', '/api/v1/users?name=\xc3\xa9');
    expect(status).to.equal(400);
  });

  it('a target in absolute form works too', async () => {
    const path = `/api/v1/users/${id}`;
    for (const target of [`http://x${path}`, 'http://x', 'http://x?limit=1', `http://x:9${path}`]) {
      expect(await raw('GET', target), target).to.deep.equal([200, undefined]);
    }
    for (const authority of ['[x', '[x]', 'u@x', 'x:y', '%zz', ':80']) {
      for (const path of ['/api/v1/users?name=x', '/livez', '/']) {
        const answer = await raw('GET', `http://${authority}${path}`);
        expect(answer, authority + path).to.deep.equal([400, 'invalid-path']);
      }
    }
  });

  it('the 400 for a malformed target names all that can be wrong with it', async () => {
    for (const target of ['/%ZZ', 'ftp://localhost/x', 'http://u@x/']) {
      const answer = await exchange(api.server, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(answer?.body.error, target).to.match(/percent-encoding, scheme and host/);
    }
  });

  it('an isOwnHost that does not return true rejects every name', async () => {
    const isOwnHost = (async () => true) as unknown as () => boolean;
    await using own = await startApi({ app: { isOwnHost } });
    expectProblem(await own.get('/users'), 421, 'misdirected-request');
  });

  it('the authority of an absolute form overrides Host', async () => {
    await using own = await startApi({ app: { isOwnHost: (name) => name === 'mine' } });
    const ask = async (target: string, host: string) => {
      const answer = await exchange(own.server, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return [answer?.status, answer?.body.code];
    };
    for (const path of ['/api/v1/users', '/livez']) {
      expect(await ask(`http://mine:80${path}`, 'other')).to.deep.equal([200, undefined]);
      for (const [target, host] of [
        [`http://other${path}`, 'mine'],
        [path, 'other'],
      ] as const) {
        expect(await ask(target, host), target).to.deep.equal([421, 'misdirected-request']);
      }
    }
    expect(await ask('/livez', 'mine.:80')).to.deep.equal([200, undefined]);
    expect(await ask('http://[x/livez', 'mine')).to.deep.equal([400, 'invalid-path']);
    expect(await ask('http://mine/livez', 'a/b@c')).to.deep.equal([400, 'bad-request']);
  });

  it('other methods return 405 with Allow', async () => {
    for (const [path, allow, methods] of [
      ['/users', 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE', 'PROPFIND']],
      ['/users/x', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', ['POST', 'PROPFIND', 'PURGE']],
      ['/posts', 'GET, HEAD, POST, OPTIONS', ['PUT', 'PATCH', 'DELETE', 'SEARCH']],
      [`/posts/x`, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', ['POST', 'LINK']],
    ] as const) {
      for (const method of methods) {
        const answer = await api.send(method, path);
        expectProblem(answer, 405, 'method-not-allowed');
        expect(answer.headers.get('allow')).to.equal(allow);
      }
      expect((await raw('TRACE', `/api/v1${path}`))[0]).to.equal(405);
    }
  });

  it('OPTIONS returns 204 with the allowed methods and types, even for unknown ids', async () => {
    for (const [path, allow, post, patch] of [
      ['/users', 'GET, HEAD, POST, OPTIONS', 'application/json', null],
      [
        '/posts/nothing',
        'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
        null,
        'application/merge-patch+json, application/json',
      ],
    ] as const) {
      const { status, headers, text } = await api.send('OPTIONS', path);
      expect([status, text]).to.deep.equal([204, '']);
      expect(headers.get('allow')).to.equal(allow);
      expect(headers.get('accept-post')).to.equal(post);
      expect(headers.get('accept-patch')).to.equal(patch);
      expect(headers.get('x-request-id')).to.be.a('string');
    }
    expectProblem(await api.send('OPTIONS', '/nothing'), 404, 'path-not-found');
    const star = await exchange(api.server, 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n');
    expect([star?.status, star?.headers.get('allow')]).to.deep.equal([
      204,
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    ]);
  });

  it('HEAD returns the status and headers of GET, without a body', async () => {
    const volatile = new Set(['date', 'x-request-id', 'connection', 'keep-alive']);
    const text = 'é'.repeat(300_000);
    const long = await api.post('/posts', { title: 'x', body: 'x', text });
    expect((await api.get(`/posts/${long.body.id}`)).body.text).to.equal(text);
    const beside = ['/livez', '/readyz', '/problems/internal'];
    for (const path of [
      ...[`/posts/${long.body.id}`, '/posts?limit=1', '/users?limit=1&count=exact', '/users'],
      ...[`/users/${id}`, '/users/nobody', '/users?limit=0', '/nothing'],
      ...beside.map((path) => api.server.url + path),
    ]) {
      const id = { 'X-Request-Id': 'same' };
      const [get, head] = [await api.send('GET', path, id), await api.send('HEAD', path, id)];
      expect([head.status, head.text], path).to.deep.equal([get.status, '']);
      const plain = ({ headers }: typeof get) =>
        [...headers].filter(([name]) => !volatile.has(name));
      expect(plain(head), path).to.deep.equal(plain(get));
      expect(head.headers.get('content-length')).to.equal(String(Buffer.byteLength(get.text)));
    }
  });

  it('a target that is too long returns 414', async () => {
    const answer = await api.get(`/users?name=${'x'.repeat(13_000)}`);
    expectProblem(answer, 414, 'uri-too-long');
    expect((await api.get(`/users?name=${'x'.repeat(12_000)}`)).status).to.equal(200);
  });
});
