import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rostrum } from '../../support/server.ts';
import { user } from '../transfer/records.ts';
import { Imports, text } from './imports.ts';

describe('rostrum import: rejected records', () => {
  const imports = new Imports();

  it('reports everything that is invalid, and adds nothing', async () => {
    await imports.store.users.create(user(1, { id: '2' }));
    const given = {
      users: [
        { id: 1, name: 'A', email: 'a@b.c' },
        { id: 2, name: '', email: 'x' },
        { id: 3, name: 'C', email: 'A@B.C' },
        { id: 1, name: 'D' },
        { name: 'E', email: 'USER.1@example.com' },
        7,
        { id: 1e300, name: 'F' },
      ],
      posts: [
        { title: 'P', authorId: 1 },
        { title: 'P', authorId: 2 },
        { authorId: 'nobody' },
        { title: 'P', authorId: {} },
        { title: 'P', authorId: 1e300, id: 1, 'a\u0000': 1 },
        { title: 'P', id: 1 },
      ],
    };
    const before = await imports.held();
    expect(await imports.run(given)).to.include({ records: 13, rejected: 9 });
    expect(imports.rejected).to.deep.equal([
      'users[1] /name too-short',
      'users[1] /email invalid',
      'users[2] /email taken',
      'users[3] /id taken',
      'users[4] /email taken',
      'users[5]  invalid',
      'posts[1] /authorId unknown',
      'posts[2] /title required',
      'posts[3] /authorId type',
      'posts[4] /authorId number-range',
      'posts[4] /a\u0000 key',
    ]);
    expect(await imports.held()).to.deep.equal(before);
    expect(await imports.run(given, { skipInvalid: true })).to.include({ rejected: 9 });
    expect(imports.added).to.deep.equal({ users: 2, posts: 2 });
    const after = await imports.held();
    expect([after.users.length, after.posts.length]).to.deep.equal([3, 2]);
  });

  it('reports line numbers in JSON Lines and CSV', async () => {
    const jsonl = '{"name":"A"}\n\n{"name":\n{}';
    await imports.run(jsonl, { file: 'a.jsonl', as: 'users' });
    const csv = 'name,born\nA,1\n\n"\nB\n",2,3\n,"4\n"\nC\n';
    await imports.run(csv, { file: 'a.csv', as: 'users' });
    expect(imports.rejected).to.deep.equal([
      ...['line 3  invalid', 'line 4 /name required'],
      ...['line 4  invalid', 'line 7 /name too-short', 'line 9  invalid'],
    ]);
  });

  it('applies schema files', async function () {
    this.timeout(60_000);
    const schema = imports.write(
      text({ properties: { born: { type: 'integer' } } }),
      'schema.json',
    );
    const path = imports.write(text({ users: [{ name: 'A', born: 'x' }] }));
    const args = ['import', path, '--user-schema', schema, '--store', `sqlite:${path}.db`];
    const { code, stdout } = await rostrum(...args);
    const line = 'users[0] "A" /born invalid: Must be of the type integer. It is "x".\n';
    expect([code, stdout]).to.eql([2, line]);
  });

  it('rejects a record that conflicts with one added since the check', async () => {
    const given = { users: [{ name: 'A' }, { name: 'B', email: user(1).email }] };
    const progress = (part: string) => {
      if (part === 'checked') void imports.store.users.create(user(1));
    };
    expect(await imports.run(given, { progress })).to.include({ rejected: 1 });
    expect([imports.rejected, imports.added.users]).to.deep.equal([['users[1] /email taken'], 1]);
  });

  it('reports rows that JSON cannot express', async () => {
    const path = imports.write('', 'site');
    const transform = imports.write(
      `const row = { title: '' };
      row.self = row;
      export const read = () => ({ posts: [row, { title: 'A', own: { id: 1n } }] });
      export const posts = (row) => row;`,
      'circular.mjs',
    );
    const report = join(imports.folder, 'bad.jsonl');
    const args = ['import', path, '--transform', transform, '--report', report];
    const { code, stdout } = await rostrum(...args, '--store', imports.url);
    expect([code, stdout.split('\n').length]).to.deep.equal([2, 3]);
    const contents = readFileSync(report, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).content);
    expect(contents[0]).to.match(/title: ''.*Circular/s);
    expect(contents[1]).to.contain('1n');
  });
});
