import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { createRostrum, isRostrumError } from '../../src/index.ts';

const { users, posts } = createRostrum(createMemoryStore());

/** The error of a call, as its code and the places it names. */
async function refusal(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isRostrumError(error)) throw error;
  const places = 'issues' in error.details ? error.details.issues.map((i) => i.pointer) : [];
  return [error.code, ...places].join(' ');
}

describe('the services', () => {
  it('answer what is missing before what is stale, and that before what is wrong', async () => {
    const { stored } = await users.create({ name: 'Ada' });
    const { id } = stored.record;
    expect(await refusal(users.patch('none', { name: '' }, { only: [7] }))).to.equal(
      'user-not-found',
    );
    expect(await refusal(users.patch(id, { name: '' }, { only: [7] }))).to.equal(
      'version-mismatch',
    );
    expect(await refusal(users.patch(id, { name: '' }, { required: true }))).to.equal(
      'precondition-required',
    );
    expect(await refusal(users.patch(id, { name: '' }))).to.equal('invalid-record /name');
  });

  it('name an unknown author beside all else that is wrong', async () => {
    expect(await refusal(posts.create({ authorId: 'none' }))).to.equal(
      'invalid-record /title /authorId',
    );
    expect(await refusal(posts.create({ title: 'x', authorId: 'none' }))).to.equal(
      'invalid-record /authorId',
    );
  });

  it('judge an invalid repeat by its key first', async () => {
    const key = { key: 'k', fingerprint: 'a' };
    const first = await users.create({ name: 'Ada' }, key);
    expect(await users.create({ name: '' }, key)).to.deep.equal({ ...first, replayed: true });
    expect(await refusal(users.create({ name: '' }, { ...key, fingerprint: 'b' }))).to.equal(
      'idempotency-key-reused',
    );
  });

  it('refuse lists that nobody may ask for, as a mistake of the caller', async () => {
    const wrong = [
      { limit: 0 },
      { limit: 1001 },
      { limit: 1.5 },
      { filter: { ids: Array<string>(101).fill('x') } },
      { order: { by: 'toString' as 'name', direction: 'asc' as const } },
      { order: { by: 'name' as const, direction: 'up' as 'asc' } },
    ];
    for (const request of wrong) {
      const error = await users.list(request).catch((reason: unknown) => reason);
      expect(error, JSON.stringify(request)).to.be.instanceOf(RangeError);
    }
  });
});
