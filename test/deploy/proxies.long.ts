// Runs nginx and Caddy with the configurations in deploy/, each in front of a Rostrum server. Both must be on
// the PATH: `apt-get install nginx-light caddy`.

import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { defaultLimits } from '../../src/adapters/http/options.ts';
import { blocksOf } from '../docs/markdown.ts';
import { freePort } from '../support/free-port.ts';
import { type Child, type Outcome, outcomeOf, start } from '../support/process.ts';
import { repository, temporaryDirectory } from '../support/repository-copy.ts';
import { type Server, startServer } from '../support/server.ts';

/** The host name in the examples. */
const host = 'rostrum.example.com';
const origin = `https://${host}`;

const example = (name: string) => readFile(join(repository, 'deploy', name), 'utf8');

/** The values that replace those in an example so that it runs here. */
interface Place {
  readonly folder: string;
  readonly port: number;
  /** Host and port of Rostrum. */
  readonly upstream: string;
  /** Whether Rostrum is served under a prefix, as in docs/deploying.md. */
  readonly isUnderPrefix: boolean;
}

/** Returns the proxy configuration for a prefix in docs/deploying.md. */
const underPrefix = (language: string) => blocksOf('docs/deploying.md', language)[0]?.text ?? '';

const must = (text: string, from: string, to: string) => {
  expect(text).to.contain(from);
  return text.replaceAll(from, to);
};

/** Each returns the command that runs the proxy in the foreground. */
const proxies: Record<string, (place: Place) => Promise<[string, string[]]>> = {
  async nginx({ folder, port, upstream, isUnderPrefix }) {
    let site = must(await example('nginx.conf'), '127.0.0.1:3000', upstream);
    const whole = '  location / {\n    proxy_pass http://rostrum;\n  }\n';
    if (isUnderPrefix) site = must(site, whole, underPrefix('nginx'));
    site = must(site, 'listen 443 ssl', `listen 127.0.0.1:${port} ssl`);
    site = must(site, 'listen 80', `listen unix:${folder}/80.sock`);
    site = must(site, '/etc/ssl/rostrum.pem', `${folder}/cert.pem`);
    site = must(site, '/etc/ssl/private/rostrum.key', `${folder}/key.pem`);
    await writeFile(join(folder, 'site.conf'), site);
    const parts = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const temporary = parts.map((part) => `${part}_temp_path ${folder}/${part};`).join(' ');
    // Without this, workers started by root would run as a user that cannot write to the folder.
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const main = `${user} daemon off; pid ${folder}/pid; error_log stderr warn; events {}
      http { access_log off; ${temporary} include ${folder}/site.conf; }`;
    await writeFile(join(folder, 'nginx.conf'), main);
    return ['nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')]];
  },
  async Caddy({ folder, port, upstream, isUnderPrefix }) {
    let site = await example('Caddyfile');
    const whole = /^\treverse_proxy [\s\S]*^\t}\n/m;
    if (isUnderPrefix) site = site.replace(whole, underPrefix('caddy'));
    site = must(site, '127.0.0.1:3000', upstream);
    const opening = `${origin}:${port} {\n\tbind 127.0.0.1\n\ttls ${folder}/cert.pem ${folder}/key.pem`;
    const options = `{\n\tadmin off\n\tauto_https disable_redirects\n}\n`;
    await writeFile(join(folder, 'Caddyfile'), options + must(site, `${host} {`, opening));
    return ['caddy', ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]];
  },
};

interface Response {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const cases = Object.entries(proxies).flatMap(([name, setUp]) =>
  ['', '/backend'].map((prefix) => ({ name, setUp, prefix })),
);

for (const { name, setUp, prefix } of cases) {
  const isUnderPrefix = prefix !== '';
  const publicUrl = origin + prefix;
  describe(`Rostrum behind ${name} at ${publicUrl}`, function () {
    this.timeout(30_000);
    let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
    let server: Server;
    let proxy: Child | undefined;
    let ended: Promise<Outcome> | undefined;
    let port: number;
    let metricsPort: number;

    function send(
      method: string,
      path: string,
      headers: Readonly<Record<string, string>> = {},
      body?: unknown,
      localAddress?: string,
    ): Promise<Response> {
      const content = body === undefined ? {} : { 'Content-Type': 'application/json' };
      return new Promise((resolve, reject) => {
        const to = {
          host: '127.0.0.1',
          port,
          servername: host,
          rejectUnauthorized: false,
          localAddress,
        };
        const all = { Host: host, 'Accept-Encoding': 'gzip', ...content, ...headers };
        request({ ...to, method, path: prefix + path, headers: all }, async (response) => {
          const { statusCode: status, headers } = response;
          resolve({ status, headers, body: await buffer(response) });
        })
          .on('error', reject)
          .end(body === undefined ? undefined : JSON.stringify(body));
      });
    }

    before(async () => {
      folder = await temporaryDirectory();
      metricsPort = await freePort();
      server = await startServer(
        ...['--store', 'memory:', '--public-url', publicUrl],
        ...['--trust-proxy', '1', '--rate-limit', '1000', '--metrics-port', String(metricsPort)],
      );
      port = await freePort();
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
      const files = [
        '-keyout',
        join(folder.path, 'key.pem'),
        '-out',
        join(folder.path, 'cert.pem'),
      ];
      const subject = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
      const made = await outcomeOf(
        start('openssl', ['req', '-x509', ...key, ...files, ...subject]),
      );
      expect(made.code, made.output).to.equal(0);

      const upstream = new URL(server.address).host;
      const [command, args] = await setUp({ folder: folder.path, port, upstream, isUnderPrefix });
      // Keep Caddy's state in the folder too.
      const env = { XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path };
      proxy = start(command, args, { env });
      ended = outcomeOf(proxy);
      for (;;) {
        const tried = await Promise.race([ended, send('GET', '/readyz').catch(() => sleep(100))]);
        if (tried && 'output' in tried) throw new Error(`${name} has ended: ${tried.output}`);
        if (tried?.status === 200) break;
      }
    });
    after(async () => {
      proxy?.kill();
      await ended;
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    it('preserves Location and strong ETags, which work with If-Match and If-None-Match', async () => {
      const text = 'compressible '.repeat(500);
      const made = await send('POST', '/api/v1/users', {}, { name: 'Ada', text });
      expect([made.status, made.headers.etag]).to.deep.equal([201, '"1"']);
      const { location = '' } = made.headers;
      const path = location.replace(publicUrl, '');
      expect(location.startsWith(publicUrl), location).to.equal(true);
      expect(path).to.match(/^\/api\/v1\/users\/[^/]+$/);

      const read = await send('GET', path);
      expect([read.status, read.headers.etag]).to.deep.equal([200, '"1"']);
      const same = await send('GET', path, { 'If-None-Match': '"1"' });
      expect([same.status, same.headers.etag]).to.deep.equal([304, '"1"']);

      const changed = await send('PATCH', path, { 'If-Match': '"1"' }, { name: 'Ada L.' });
      expect([changed.status, changed.headers.etag]).to.deep.equal([200, '"2"']);
      const late = await send('PATCH', path, { 'If-Match': '"1"' }, { name: 'Somebody' });
      expect([late.status, late.headers.etag]).to.deep.equal([412, '"2"']);
    });

    it('serves lists with working Link headers, compressed if not under a prefix', async () => {
      for (const title of ['One', 'Two', 'Three']) {
        const post = { title, text: 'compressible '.repeat(500) };
        expect((await send('POST', '/api/v1/posts', {}, post)).headers.etag).to.equal('"1"');
      }
      const titles: string[] = [];
      let path: string | undefined =
        '/api/v1/posts?limit=2&sort=title&createdAt[gte]=2000-01-01T00:00:00Z';
      while (path !== undefined) {
        const { status, headers, body } = await send('GET', path);
        const coding = headers['content-encoding'];
        if (!isUnderPrefix) expect([status, coding]).to.deep.equal([200, 'gzip']);
        const text = (coding === 'gzip' ? gunzipSync(body) : body).toString();
        const { posts } = JSON.parse(text) as { posts: { title: string }[] };
        titles.push(...posts.map(({ title }) => title));
        path = /^<(.*)>; rel="next"/.exec(String(headers.link))?.[1]?.replace(publicUrl, '');
      }
      expect(titles).to.deep.equal(['One', 'Three', 'Two']);
    });

    it('lets Rostrum reject bodies and headers that are too large', async () => {
      const large = { name: 'Ada', text: 'x'.repeat(1.5 * 1024 * 1024) };
      const refused = await send('POST', '/api/v1/users', {}, large);
      expect(refused.status).to.equal(413);
      expect(refused.headers['content-type']).to.match(/^application\/problem\+json/);
      const header = { 'X-Large': 'x'.repeat(24 * 1024) };
      expect((await send('GET', '/api/v1/users', header)).status).to.equal(200);
      // Caddy 2.6 returns 502 if its own limit is exceeded first.
      const huge = { name: 'Ada', text: 'x'.repeat(4 * 1024 * 1024) };
      expect((await send('POST', '/api/v1/users', {}, huge)).status).to.be.oneOf([413, 502]);
    });

    it('rate-limits by the address that the proxy sees, not one that the client claims', async () => {
      const left: number[] = [];
      for (const address of ['192.0.2.1', '192.0.2.2']) {
        const { headers } = await send('GET', '/api/v1/users', { 'X-Forwarded-For': address });
        left.push(Number(/;r=(\d+)/.exec(String(headers.ratelimit))?.[1]));
      }
      expect(left[1]).to.be.below(left[0] ?? Number.NaN);
    });

    it('keeps connections and pipelined requests of a client away from Rostrum', async () => {
      const packet = `GET ${prefix}/livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(256);
      const to = { host: '127.0.0.1', port, servername: host, rejectUnauthorized: false };
      const sockets = Array.from({ length: 2000 }, () =>
        connect(to, function (this: TLSSocket) {
          this.write(packet);
        })
          .on('error', () => {})
          .resume(),
      );
      const counts: number[] = [];
      const times: number[] = [];
      for (const end = Date.now() + 5000; Date.now() < end; await sleep(100)) {
        expect((await fetch(`${server.address}/livez`)).status).to.equal(200);
        const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        counts.push(Number(/^rostrum_http_connections (\d+)$/m.exec(metrics)?.[1]));
        // From another address, through the proxy.
        const start = performance.now();
        const other = await send('GET', '/api/v1/users/none', {}, undefined, '127.0.0.2');
        times.push(performance.now() - start);
        expect(other.status).to.equal(404);
      }
      for (const socket of sockets) socket.destroy();
      console.log(
        `        at most ${Math.max(...counts)} connections to Rostrum; the slowest of` +
          ` ${times.length} others ${Math.max(...times).toFixed(0)} ms`,
      );
      expect(Math.max(...counts)).to.be.within(1, 260);
    });

    it('forwards paths unchanged', async () => {
      const { status, body } = await send('GET', '/api/v1/users/a%2Fb');
      expect([status, JSON.parse(body.toString()).code]).to.deep.equal([404, 'user-not-found']);
    });
  });
}

describe('the proxy examples', () => {
  for (const [file, setting] of [
    ['nginx.conf', /^ *keepalive_timeout (\d+)s;$/m],
    ['Caddyfile', /^\t*keepalive (\d+)s$/m],
  ] as const) {
    it(`close idle connections before Rostrum does: ${file}`, async () => {
      const [, seconds] = setting.exec(await example(file)) ?? [];
      expect(Number(seconds) * 1000).to.be.within(1, defaultLimits.keepAliveTimeoutMs - 1000);
    });
  }
});
