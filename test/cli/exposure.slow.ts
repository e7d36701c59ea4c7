import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { addKey } from '../../src/adapters/credentials/index.ts';
import { runProgram } from '../../src/cli/program.ts';
import { scopes } from '../../src/index.ts';
import { freePort } from '../support/free-port.ts';
import { node, outcomeOf } from '../support/process.ts';
import { repository } from '../support/repository-copy.ts';
import { type Server, startCommand, startServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { failureOf } from './failure.ts';

const memory = ['--store', 'memory:'];
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** Sends a request with any Host header. */
function statusFor({ address }: Server, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${address}/api/v1/users`, { headers: { Host: host } });
    asked.once('error', reject).once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.end();
  });
}

describe('the program, on a network', function () {
  this.timeout(30_000);
  let folder: string;
  let keys: string;
  let token: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'rostrum-exposure-'));
    keys = join(folder, 'keys');
    token = addKey(keys, { scopes: [...scopes] }).token;
  });
  after(() => rmSync(folder, { recursive: true }));

  it('listens for other machines only with credentials or --anonymous', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'example.com']) {
      const said = await failureOf(runProgram([...memory, '--host', host]));
      expect(said).to.match(/--auth-keys or --auth-issuer, or allow requests without/);
    }
    for (const more of [
      ['--anonymous', 'all'],
      ['--auth-keys', keys],
    ]) {
      await using server = await startServer(...memory, '--host', '0.0.0.0', ...more);
      const expected = more[0] === '--anonymous' ? 200 : 401;
      const { port } = new URL(server.address);
      expect((await fetch(`http://127.0.0.1:${port}/api/v1/users`)).status).to.equal(expected);
      expect(await statusFor(server, 'any.example.com')).to.equal(expected);
    }
  });

  it('lets everyone read with --anonymous, while writing needs a key', async () => {
    const open = ['--anonymous', 'posts:read, users:read:public', '--public-user-fields', 'city'];
    await using server = await startServer(...memory, '--auth-keys', keys, ...open);
    const call = async (method: string, path: string, body?: object, headers = {}) => {
      const response = await fetch(`${server.address}/api/v1${path}`, {
        method,
        headers: { 'Content-Type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const ann = { name: 'Ann', email: 'ann@x.org', city: 'Bonn', secret: 1 };
    expect((await call('POST', '/users', ann)).status).to.equal(401);
    const { body: made } = await call('POST', '/users', ann, bearer(token));
    const post = { title: 'A', authorId: made.id };
    expect((await call('POST', '/posts', post, bearer(token))).status).to.equal(201);
    const { id, createdAt } = made;
    const shown = { id, createdAt, name: 'Ann', city: 'Bonn' };
    expect((await call('GET', `/users/${id}`)).body).to.deep.equal(shown);
    expect((await call('GET', '/posts?include=author')).body.users).to.deep.equal([shown]);
    // Requests without credentials are protected against DNS rebinding instead.
    expect(await statusFor(server, 'evil.example.com')).to.equal(421);
  });

  it('warns about --anonymous all', async () => {
    for (const [anonymous, warns] of [
      ['all', true],
      ['posts:write', false],
    ] as const) {
      const child = startCommand([...memory, '--anonymous', anonymous, '--port', '0']);
      const ended = outcomeOf(child);
      await once(child.stdout, 'data');
      child.kill();
      const { stderr } = await ended;
      expect(/are allowed to do everything \(--anonymous all\)/.test(stderr), anonymous).to.equal(
        warns,
      );
    }
  });

  it('without credentials, answers only to local host names (DNS rebinding)', async () => {
    await using server = await startServer(...memory, '--public-url', 'https://api.example.com/x');
    const { port } = new URL(server.address);
    const names = ['LOCALHOST', 'localhost.', 'api.localhost', `a.b.localhost.:${port}`];
    for (const host of [`localhost:${port}`, ...names, `[::1]:${port}`, 'api.example.com.']) {
      expect(await statusFor(server, host), host).to.equal(200);
    }
    for (const host of ['evil.example.com', '[::2]', 'api.example.com.evil.org', 'localhost.org']) {
      expect(await statusFor(server, host), host).to.equal(421);
    }
  });

  it('uses --public-url in Location, Link and problem types', async () => {
    const url = 'https://api.example.com/backend';
    await using server = await startServer(...memory, '--public-url', `${url}/`);
    const headers = { 'Content-Type': 'application/json' };
    const post = () =>
      fetch(`${server.address}/api/v1/users`, { method: 'POST', headers, body: '{"name":"Ann"}' });
    const made = await post();
    const { id } = (await made.json()) as { id: string };
    expect(made.headers.get('location')).to.equal(`${url}/api/v1/users/${id}`);
    await post();
    const page = await fetch(`${server.address}/api/v1/users?limit=1`);
    expect(page.headers.get('link')).to.match(new RegExp(`^<${url}/api/v1/users\\?`));
    for (const path of ['/api/v1/users/x', '/nothing']) {
      const answer = (await (await fetch(server.address + path)).json()) as { type: string };
      expect(answer.type).to.match(new RegExp(`^${url}/problems/`));
    }
  });

  it('does not start with credentials that would admit no client or every client', async () => {
    const provider = ['--auth-issuer', 'https://id.example.com', '--auth-audience', 'a'];
    const jwks = ['--auth-jwks-url', 'https://id.example.com/jwks'];
    const wrong: [RegExp, ...string[]][] = [
      [/There is no key file/, '--auth-keys', join(folder, 'none')],
      [/all three of/, ...provider],
      [/all three of/, ...provider.slice(0, 2), ...jwks],
      [/all three of/, ...jwks],
      [/an https URL/, ...provider, '--auth-jwks-url', 'http://id.example.com/jwks'],
      [/all, or some of users:read, users:read:public, /, '--anonymous', 'true'],
      [/all, or some of/, '--anonymous', 'posts:read,'],
      [/all, or some of/, '--anonymous', 'all,posts:read'],
      [/an origin such as/, '--cors', 'null'],
      [
        /^--cors is "\*": any web page could do what requests without credentials can do/,
        '--cors',
        '*',
      ],
      [/a URL such as/, '--public-url', 'https://u:p@example.com'],
      [/a number, or addresses/, '--trust-proxy', 'everybody'],
      [/a whole number/, '--rate-limit', '-1'],
    ];
    for (const [sentence, ...args] of wrong) {
      expect(await failureOf(runProgram([...memory, ...args]))).to.match(sentence);
    }
    const empty = join(folder, 'empty');
    writeFileSync(empty, '', { mode: 0o600 });
    await using server = await startServer(...memory, '--auth-keys', empty);
    for (const headers of [{}, bearer(token), bearer('')]) {
      expect((await fetch(`${server.address}/api/v1/users`, { headers })).status).to.equal(401);
    }
  });

  it('loads no optional package that is not switched on', async () => {
    const hook = `import { registerHooks } from 'node:module';
      const isWatched = /^(jose|rate-limiter-flexible|prom-client|@opentelemetry.api)$/;
      registerHooks({
        resolve(name, context, next) {
          if (isWatched.test(name)) console.error('loaded ' + name);
          return next(name, context);
        },
      });
      setTimeout(() => process.kill(process.pid, 'SIGTERM'), 1500).unref();`;
    const hooked = `--import=data:text/javascript,${encodeURIComponent(hook)}`;
    const loadedBy = async (...args: string[]) => {
      const { stderr } = await node([hooked, ...args], { cwd: repository });
      return [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, name]) => name);
    };
    const loadedWith = (...args: string[]) => loadedBy('src/main.ts', ...memory, ...args);
    const provider = ['--auth-issuer', 'https://id.example.com', '--auth-audience', 'a'];
    const jwks = ['--auth-jwks-url', 'https://id.example.com/jwks'];
    const http = "await import('./src/adapters/http/index.ts')";
    const loaded = await Promise.all([
      loadedWith(),
      loadedBy('--input-type=module', '-e', http),
      loadedWith('--metrics-port', '0'),
      loadedWith('--rate-limit', '10'),
      loadedWith('--auth-keys', keys),
      loadedWith(...provider, ...jwks),
    ]);
    expect(loaded.map((names) => names.sort().join())).to.deep.equal([
      ...['', '', '@opentelemetry/api,prom-client', 'rate-limiter-flexible'],
      ...['rate-limiter-flexible', 'jose,rate-limiter-flexible'],
    ]);
  });

  describe('with an identity provider', () => {
    let provider: HttpServer;
    let isDown = true;
    let url: string;
    let sign: (claims: object) => Promise<string>;
    before(async () => {
      const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' };
      provider = createServer((_request, response) => {
        response.writeHead(isDown ? 503 : 200, { 'Content-Type': 'application/json' });
        response.end(JSON.stringify({ keys: [jwk] }));
      });
      await new Promise<void>((listening) => provider.listen(0, '127.0.0.1', listening));
      url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`;
      sign = (claims) =>
        new SignJWT({ iss: url, aud: 'rostrum', sub: 'ada', scope: 'users:read', ...claims })
          .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'at+jwt' })
          .setExpirationTime('5m')
          .sign(privateKey);
    });
    after(() => {
      provider.closeAllConnections();
      provider.close();
    });

    it('accepts its tokens alongside keys, and returns 503 until its key set has been fetched once', async () => {
      const tokens = ['--auth-issuer', url, '--auth-audience', 'rostrum', '--auth-jwks-url', url];
      await using server = await startServer(...memory, ...tokens, '--auth-keys', keys);
      const get = async (token: string, path = '/users') => {
        const response = await fetch(`${server.address}/api/v1${path}`, { headers: bearer(token) });
        const { code } = (await response.json()) as { code?: string };
        return [response.status, code];
      };
      const good = await sign({});
      expect(await get(good)).to.deep.equal([503, 'credentials-unavailable']);
      expect(await get(token), 'a key needs no provider').to.deep.equal([200, undefined]);
      isDown = false;
      await until(async () => (await get(good))[0] === 200, 'the keys are fetched after a second');
      expect(await get(good, '/posts')).to.deep.equal([403, 'forbidden']);
      expect(await get(await sign({ aud: 'another' }))).to.deep.equal([401, 'unauthenticated']);
      isDown = true;
      expect(await get(good)).to.deep.equal([200, undefined]);
      expect(await get(await sign({ sub: 'bob' }))).to.deep.equal([200, undefined]);
    });

    it('keeps tokens out of logs, errors and responses', async () => {
      isDown = false;
      const tokens = ['--auth-issuer', url, '--auth-audience', 'rostrum', '--auth-jwks-url', url];
      const port = String(await freePort());
      const server = await startServer(
        ...[...memory, ...tokens, '--auth-keys', keys, '--rate-limit', '120'],
        ...['--log-level', 'debug', '--metrics-port', port],
      );
      const ended = outcomeOf(server.process);
      const used = [
        ...[token, await sign({}), await sign({ aud: 'x' }), await sign({ scope: '' })],
        ...[`${token}x`, token.slice(0, -1), 'rk_abcdefabcdef_short', 'not.a.token'],
      ];
      let seen = '';
      let changes = 0;
      for (const one of used) {
        const headers = [
          bearer(one),
          { Authorization: `Basic ${one}` },
          { Authorization: one },
          { 'X-Request-Id': `${one}`, ...bearer(one) },
          { ...bearer(one), 'Idempotency-Key': 'k', 'If-Match': '"1"' },
        ];
        const paths = [
          '/users',
          `/users?access_token=${one}`,
          `/users?x=1&token=${one}`,
          '/posts/none',
        ];
        for (const [n, given] of headers.entries()) {
          // Request ids and paths come from the client, and are logged as they are.
          if (n === 3) given['X-Request-Id' as keyof typeof given] = 'id';
          for (const path of paths) {
            const response = await fetch(`${server.address}/api/v1${path}`, { headers: given });
            seen += JSON.stringify([...response.headers]) + (await response.text());
          }
        }
        const request = { method: 'POST', body: '{"name":"Ada"}', headers: bearer(one) };
        Object.assign(request.headers, { 'Content-Type': 'application/json' });
        const written = await fetch(`${server.address}/api/v1/users`, request);
        if (written.status === 201) changes += 1;
      }
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(metrics).to.include('endpoint="createUser"');
      expect(await server.stop()).to.equal(0);
      const { output } = await ended;
      expect(output.split('\n').length).to.be.above(100);
      expect(changes).to.be.above(0);
      expect(output.match(/"msg":"change"/g)).to.have.lengthOf(changes);
      for (const one of used) {
        const secret = one.startsWith('rk_') ? one.split('_').slice(2).join('_') : one;
        expect(output, 'the log').not.to.include(secret);
        expect(seen, 'a response').not.to.include(secret);
        expect(metrics, 'a metric').not.to.include(secret);
      }
    });
  });
});
