import { expect } from 'chai';
import { type Api, expectProblem, startApi } from '../support/api.ts';

// test/domain/services.test.ts and access.test.ts test the owner of a key, and reuse with another body.

describe('Idempotency-Key', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  after(() => api[Symbol.asyncDispose]());

  const key = (value: string) => ({ 'Idempotency-Key': value });

  it('replays the first response to a repeated request', async () => {
    const first = await api.post('/users', { name: 'Ann', own: [1] }, key('one'));
    const repeat = await api.post('/users', '{ "own": [1.0], "name": "\\u0041nn" }', key('one'));
    expect(first.headers.get('idempotency-replayed')).to.equal(null);
    expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
    expect([repeat.status, repeat.body]).to.deep.equal([201, first.body]);
    for (const header of ['location', 'etag']) {
      expect(repeat.headers.get(header)).to.equal(first.headers.get(header));
    }
  });

  it('means the same with and without quotes', async () => {
    const first = await api.post('/users', { name: 'Ann' }, key('"q\\"\\\\"'));
    const repeat = await api.post('/users', { name: 'Ann' }, key('q"\\'));
    expect(repeat.body.id).to.equal(first.body.id);
  });

  it('replays a response in the form that the repeated request prefers', async () => {
    const first = await api.post('/users', { name: 'Ann' }, key('seven'));
    const repeat = await api.post(
      '/users',
      { name: 'Ann' },
      { ...key('seven'), Prefer: 'return=minimal' },
    );
    expect([repeat.status, repeat.text]).to.deep.equal([201, '']);
    expect(repeat.headers.get('location')).to.equal(first.headers.get('location'));
    expect(repeat.headers.get('idempotency-replayed')).to.equal('true');
  });

  it('returns 400 if malformed', async () => {
    const long = 'x'.repeat(256);
    for (const value of ['', 'a b', '"', '"a', '"a"b', '""', 'é', long, '"\\a"', '"a";b=1']) {
      const answer = await api.post('/users', { name: 'Ann' }, key(value));
      const { errors } = expectProblem(answer, 400, 'invalid-header');
      expect(errors[0]).to.include({ header: 'Idempotency-Key' });
    }
    for (const value of ['x'.repeat(255), `"${'y'.repeat(255)}"`, '!~', 'a,b;c=d']) {
      expect((await api.post('/users', { name: 'Ann' }, key(value))).status, value).to.equal(201);
    }
  });

  it('is ignored by other methods', async () => {
    const { id } = await api.make('/users', { name: 'Ann' });
    const answer = await api.send('PUT', `/users/${id}`, key('a b'), { name: 'Bea' });
    expect(answer.status).to.equal(200);
    expect((await api.get('/users', key('a b'))).status).to.equal(200);
  });
});
