import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp, mkdir, readFile, symlink } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { errorOf } from '../../support/error-of.ts';
import { outcomeOf, start } from '../../support/process.ts';
import { repository, temporaryDirectory } from '../../support/repository-copy.ts';
import { createKey, program, type Server, startServer } from '../../support/server.ts';
import { until } from '../../support/until.ts';
import { connectTo, revisions } from './support/mcp.ts';

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

function post({ address }: Server, headers: Record<string, string> = {}, body: unknown = ping) {
  return fetch(`${address}/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const urlOf = ({ address }: Server) => new URL(`${address}/mcp`);

describe('the program with --mcp', function () {
  this.timeout(30_000);

  for (const revision of Object.keys(revisions) as (keyof typeof revisions)[]) {
    it(`works with the official client and protocol revision ${revision}`, async () => {
      await using server = await startServer('--store', 'memory:', '--mcp', '--mcp-deletes');
      const client = await connectTo(urlOf(server), {}, revision);
      expect((await client.listTools()).tools).to.have.length(8);
      const made = await client.call('create_post', { title: 'T', key: 'k', publish: true });
      const { id } = made.content.post;
      expect((await client.call('delete_post', { id, version: 1 })).content).to.deep.equal({
        deleted: true,
      });
      await client.close();
    });
  }

  it('adapts its tools to the settings', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-mcp-'));
    const path = join(folder, 'posts.json');
    writeFileSync(path, JSON.stringify({ properties: { lang: { enum: ['en', 'eo'] } } }));
    const flags = ['--field', 'posts.slug:text', '--post-schema', path];
    await using server = await startServer('--store', 'memory:', '--mcp', ...flags);
    const client = await connectTo(urlOf(server));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.to.include('delete_post');
    const properties = (wanted: string) =>
      tools.find(({ name }) => name === wanted)?.inputSchema.properties;
    expect(properties('create_post')).to.deep.include({ lang: { enum: ['en', 'eo'] } });
    expect(properties('find_posts')).to.have.property('slug');
    const refused = await client.call('create_post', { title: 'T', key: 'k', lang: 'de' });
    expect(refused.content.error.issues[0].pointer).to.equal('/lang');
    await client.close();
    rmSync(folder, { recursive: true });
  });

  it('uses the credentials, log and rate limits of the API', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rostrum-mcp-'));
    const keys = join(folder, 'keys');
    const token = await createKey(keys, 'posts:read,posts:write', '--name', 'agent');
    const limits = ['--rate-limit', '30', '--log-level', 'info'];
    await using server = await startServer(
      ...['--store', 'memory:', '--mcp', '--auth-keys', keys, ...limits],
    );
    const lines: Record<string, unknown>[] = [];
    createInterface({ input: server.process.stderr }).on('line', (line) =>
      lines.push(JSON.parse(line)),
    );

    const refused = await post(server);
    expect(refused.status).to.equal(401);
    const challenge = refused.headers.get('WWW-Authenticate') ?? '';
    const [, metadata = ''] = /^Bearer resource_metadata="([^"]+)"$/.exec(challenge) ?? [];
    expect(new URL(metadata).pathname).to.equal('/.well-known/oauth-protected-resource/mcp');
    expect(await (await fetch(metadata)).json()).to.include({ resource: String(urlOf(server)) });
    expect((await post(server, { Authorization: 'Bearer rk_x' })).status).to.equal(401);
    expect(await errorOf(connectTo(urlOf(server)))).to.be.instanceOf(Error);

    const client = await connectTo(urlOf(server), { Authorization: `Bearer ${token}` });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal([
      ...['find_posts', 'get_post', 'create_post', 'update_post'],
    ]);
    const { content } = await client.call('create_post', { title: 'T', key: 'k' });
    const { id } = content.post;
    await client.call('update_post', { id, version: 1, changes: { title: 'U' } });
    await client.call('update_post', { id, version: 1, changes: { title: 'V' } });
    const changed = () => lines.filter(({ msg }) => msg === 'change');
    await until(() => changed().length === 2, 'two changes are logged');
    const changes = changed();
    expect(
      changes.map(({ endpoint, collection, id, version }) => ({
        endpoint,
        collection,
        id,
        version,
      })),
    ).to.deep.equal([
      { endpoint: 'mcp', collection: 'posts', id, version: 1 },
      { endpoint: 'mcp', collection: 'posts', id, version: 2 },
    ]);
    expect(changes[0]?.caller).to.match(/^key:/);

    let status = 0;
    for (let n = 0; n < 30 && status !== 429; n++) {
      ({ status } = await post(server, { Authorization: `Bearer ${token}` }));
    }
    expect(status).to.equal(429);
    rmSync(folder, { recursive: true });
  });

  it('rejects requests from other sites by Origin and Host', async () => {
    const allowed = 'https://app.example.com';
    await using server = await startServer('--store', 'memory:', '--mcp', '--cors', allowed);
    for (const [origin, status] of [
      ['https://evil.example.com', 403],
      ['null', 403],
      [`${server.address}0`, 403],
      [server.address, 200],
      [allowed, 200],
    ] as const) {
      const response = await post(server, { Origin: origin });
      expect([origin, response.status]).to.deep.equal([origin, status]);
      if (status === 403) expect(await response.json()).to.include({ code: 'forbidden' });
    }
    const preflight = await fetch(urlOf(server), {
      method: 'OPTIONS',
      headers: {
        ...{ Origin: allowed, 'Access-Control-Request-Method': 'POST' },
        'Access-Control-Request-Headers': 'mcp-protocol-version',
      },
    });
    expect(preflight.headers.get('Access-Control-Allow-Headers')).to.equal('mcp-protocol-version');
    const rebound = request(urlOf(server), {
      method: 'POST',
      headers: { Host: 'evil.example.com' },
    });
    const [{ statusCode }] = await once(rebound.end(), 'response');
    expect(statusCode).to.equal(421);
  });

  it('accepts one JSON message per POST request', async () => {
    await using server = await startServer('--store', 'memory:', '--mcp');
    expect((await post(server, {}, [ping, ping])).status).to.equal(400);
    expect((await fetch(urlOf(server))).status).to.equal(405);
    expect((await post(server, { 'Content-Type': 'text/plain' })).status).to.equal(415);
  });
});

describe('the program without the MCP packages', () => {
  it('prints the command that installs them', async () => {
    await using directory = await temporaryDirectory();
    const place = (...path: string[]) => join(directory.path, ...path);
    for (const name of ['src', 'package.json']) {
      await cp(join(repository, name), place(name), { recursive: true });
    }
    const operations = await readFile(join(repository, 'docs', 'operations.md'), 'utf8');
    const [, serving = ''] = /^\| serve \| `(.*)` \|$/m.exec(operations) ?? [];
    await mkdir(place('node_modules', '@koa'), { recursive: true });
    for (const name of serving.split(' ')) {
      await symlink(
        join(repository, 'node_modules', name),
        place('node_modules', name),
        'junction',
      );
    }
    const run = start(process.execPath, [place('src', 'main.ts'), '--store', 'memory:', '--mcp']);
    const { code, stdout, stderr } = await outcomeOf(run);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.trimEnd().split('\n').at(-1)).to.match(
      /^The package (\S+) is not installed: run `npm i \1` \(or `npm i @modelcontextprotocol\/server zod`, which is all that --mcp needs\)\.$/,
    );
  });
});

describe('the program without --mcp', () => {
  /** Prints the URL of each MCP module that is loaded. */
  const hook = `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from 'node:module';
    registerHooks({
      load(url, context, next) {
        if (/modelcontextprotocol|node_modules\\/zod|adapters\\/mcp/.test(url)) console.log('loaded', url);
        return next(url, context);
      },
    });`)}`;

  async function loaded(...flags: string[]): Promise<number> {
    const args = ['--import', hook, program, '--store', 'memory:', '--port', '0', ...flags];
    const child = start(process.execPath, args);
    let count = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('Rostrum is ready')) break;
      if (line.startsWith('loaded')) count += 1;
    }
    child.kill();
    return count;
  }

  it('loads no MCP modules and has no /mcp', async () => {
    expect(await loaded('--mcp')).to.be.greaterThan(3);
    expect(await loaded()).to.equal(0);
    await using server = await startServer('--store', 'memory:');
    expect((await post(server)).status).to.equal(404);
  });
});
