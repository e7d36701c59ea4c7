import { expect } from 'chai';
import { type Api, startApi } from '../support/api.ts';

describe('Prefer', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const minimal = { Prefer: 'return=minimal' };

  it('return=minimal makes POST return 201 without a body', async () => {
    const answer = await api.post('/users', { name: 'Ann' }, minimal);
    expect([answer.status, answer.text]).to.deep.equal([201, '']);
    expect(answer.headers.get('content-length')).to.equal('0');
    expect(answer.headers.get('content-type')).to.equal(null);
    expect(answer.headers.get('preference-applied')).to.equal('return=minimal');
    expect(answer.headers.get('etag')).to.equal('"1"');
    const { status } = await api.get(answer.headers.get('location')?.slice(7) ?? '');
    expect(status).to.equal(200);
  });

  it('return=minimal makes other writes return 204', async () => {
    const { id } = await api.make('/posts', { title: 'x' });
    for (const [method, body, tag] of [
      ['PUT', { title: 'y' }, '"2"'],
      ['PATCH', { title: 'z' }, '"3"'],
      ['DELETE', undefined, null],
    ] as const) {
      const answer = await api.send(method, `/posts/${id}`, minimal, body);
      expect([answer.status, answer.text], method).to.deep.equal([204, '']);
      expect(answer.headers.get('preference-applied')).to.equal('return=minimal');
      expect(answer.headers.get('etag')).to.equal(tag);
    }
  });

  it('return=representation is confirmed in Preference-Applied', async () => {
    const answer = await api.post('/users', { name: 'Ann' }, { Prefer: 'return=representation' });
    expect([answer.status, answer.body.name]).to.deep.equal([201, 'Ann']);
    expect(answer.headers.get('preference-applied')).to.equal('return=representation');
  });

  it('is read beside other preferences and with parameters', async () => {
    for (const [header, applied] of [
      ['Return=minimal', 'return=minimal'],
      ['return="minimal"', 'return=minimal'],
      ['respond-async, wait=10 , return = minimal;x="a,b"', 'return=minimal'],
      ['return=minimal, return=representation', 'return=minimal'],
      ['return=other, return=minimal', null],
      ['return, return=minimal', null],
      ['return=maximal', null],
      ['return', null],
      ['handling=strict', null],
      ['note="a, return=minimal, b"', null],
      ['note="a\\", return=minimal', null],
      ['note="a\\"", return=minimal', 'return=minimal'],
      ['return=minimal"', null],
      ['', null],
    ] as const) {
      const answer = await api.post('/users', { name: 'Ann' }, { Prefer: header });
      expect(answer.status, header).to.equal(201);
      expect(answer.headers.get('preference-applied'), header).to.equal(applied);
    }
  });

  it('does not remove the body of reads and errors', async () => {
    const { id } = await api.make('/users', { name: 'Ann' });
    const read = await api.get(`/users/${id}`, minimal);
    expect([read.status, read.body.name]).to.deep.equal([200, 'Ann']);
    expect(read.headers.get('preference-applied')).to.equal(null);
    const refused = await api.post('/users', { name: '' }, minimal);
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'invalid-record']);
  });
});
