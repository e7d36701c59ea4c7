import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { DescriptionUnderTest, type OpenApi } from '../adapters/http/support/description.ts';
import { rostrum, startServer } from '../support/server.ts';

describe('rostrum openapi', function () {
  this.timeout(30_000);
  const folder = mkdtempSync(join(tmpdir(), 'rostrum-openapi-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string) => join(folder, name);

  async function printed(...args: string[]): Promise<OpenApi> {
    const { code, stdout, stderr } = await rostrum('openapi', ...args);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout);
  }

  it('prints what a server with the same settings serves, without opening a store', async () => {
    const path = file('unopened.db');
    const settings = ['--field', 'posts.slug:text', '--require-if-match', '--rate-limit', '1000'];
    const document = await printed(...settings, '--store', `sqlite:${path}`);
    expect(existsSync(path)).to.equal(false);
    await using server = await startServer('--store', 'memory:', ...settings);
    const served = await fetch(`${server.address}/openapi.json`);
    expect(served.headers.get('cache-control')).to.equal('no-cache');
    expect(await served.json()).to.deep.equal(document);
    const operation = document.paths['/posts']?.get;
    expect(operation?.parameters.map(({ name }) => name)).to.include('slug');
    const change = document.paths['/posts/{id}']?.put;
    expect(change?.parameters.find(({ name }) => name === 'If-Match')?.required).to.equal(true);
    expect(Object.keys(change?.responses ?? {})).to.include.members(['428', '429', '421']);
  });

  it('lists the scopes that operations need if credentials are required', async () => {
    const keys = ['--auth-keys', file('keys.json')];
    expect((await rostrum('key', 'create', '--scopes', 'users:read', ...keys)).code).to.equal(0);
    const remove = (await printed(...keys)).paths['/users/{id}']?.delete;
    expect(remove?.security).to.deep.equal([
      { bearer: ['users:write'] },
      { bearer: ['users:write:own'] },
    ]);
    expect(remove?.description).to.contain('Needs users:write or users:write:own.');
    expect(remove?.description).to.contain('With "posts", it also needs posts:write');
    expect(Object.keys(remove?.responses ?? {})).to.include.members(['401', '403']);
    expect((await printed()).paths['/users']?.get).not.to.have.property('security');
  });

  it('includes the schemas of custom fields', async () => {
    const schema = {
      type: 'object',
      properties: { slug: { $ref: '#/$defs/slug' }, 'a/b': { type: 'boolean' } },
      required: ['slug'],
      additionalProperties: false,
      $defs: { slug: { type: 'string', pattern: '^[a-z-]+$' } },
    };
    writeFileSync(file('posts.json'), JSON.stringify(schema));
    const description = new DescriptionUnderTest(
      await printed('--post-schema', file('posts.json')),
    );
    const check = (name: string, value: object) =>
      description.complaints({ $ref: `#/components/schemas/${name}` }, value);
    const given = { title: 'A', slug: 'a-b', 'a/b': true };
    expect(check('PostInput', given)).to.equal('No errors');
    expect(check('PostInput', { ...given, id: 'x' })).to.equal('No errors');
    expect(check('PostInput', { title: 'A' })).to.contain("'slug'");
    expect(check('PostInput', { ...given, slug: 'A B' })).to.contain('pattern');
    expect(check('PostInput', { ...given, 'a/b': 1 })).to.contain('boolean');
    expect(check('PostInput', { ...given, other: 1 })).to.contain('additional');
    expect(check('ListedPost', { id: 'x' })).to.equal('No errors');
    expect(check('UserInput', { name: 'Ada', other: 1 })).to.equal('No errors');
  });

  it('explains an invalid setting', async () => {
    const { code, stderr } = await rostrum('openapi', '--field', 'posts.title:text');
    expect([code, stderr.split('\n').length]).to.deep.equal([1, 2]);
    expect(stderr).to.contain('--field is "posts.title:text"');
  });
});
