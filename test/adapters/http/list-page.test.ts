import { expect } from 'chai';
import { type Api, type Body, startApi } from './support/api.ts';
import { countingStore } from './support/counting-store.ts';

const at = '2026-01-01T00:00:00.000Z';

/** A user whose record takes somewhat more than this many characters. */
function user(i: number, characters = 0) {
  const id = `id-${String(i).padStart(4, '0')}`;
  const blob = 'x'.repeat(characters);
  return { id, createdAt: at, updatedAt: at, name: `n${i % 7}`, email: null, blob };
}

describe('a page of a list', () => {
  const { store, calls } = countingStore();
  let api: Api;
  before(async () => {
    api = await startApi({ store });
    for (let i = 0; i < 230; i++) await store.users.create(user(i));
  });
  after(() => api[Symbol.asyncDispose]());
  beforeEach(() => calls.splice(0));

  /** What one call of the store gives, as the API renders it. */
  async function atOnce(by: 'name' | 'createdAt', direction: 'asc' | 'desc'): Promise<Body[]> {
    const { items } = await store.users.list({}, { order: { by, direction }, limit: 1000 });
    calls.splice(0);
    return items.map(({ record }) => record as unknown as Body);
  }

  it('is read in slices, and has what one call would give', async () => {
    for (const [sort, all] of [
      ['name', await atOnce('name', 'asc')],
      ['-createdAt', await atOnce('createdAt', 'desc')],
    ] as const) {
      for (const limit of [1, 19, 20, 21, 69, 70, 71, 229, 230, 231, 1000]) {
        const { body, headers } = await api.get(`/users?sort=${sort}&limit=${limit}&count=exact`);
        expect(body.users, `${sort} ${limit}`).to.deep.equal(all.slice(0, limit));
        expect([body.total, headers.get('x-total-count')]).to.deep.equal([230, '230']);
        expect(headers.has('link')).to.equal(limit < 230);
        if (limit >= 230) expect(body.next).to.equal(null);
        else {
          const path = `/users?sort=${sort}&limit=1000&cursor=${body.next}`;
          expect((await api.get(path)).body.users).to.deep.equal(all.slice(limit));
        }
      }
    }
  });

  it('is read in slices of 20 and then 50 records at most', async () => {
    await api.get('/users?limit=220');
    expect(calls.map(({ limit }) => limit)).to.deep.equal([20, 50, 50, 50, 50]);
  });

  it('holds no record of a slice when it reads the next', async () => {
    const weighing = countingStore({ weigh: true });
    await using other = await startApi({ store: weighing.store });
    for (let i = 0; i < 150; i++) await weighing.store.users.create(user(i));
    await other.get('/users?limit=150');
    expect(weighing.calls.map(({ held }) => held)).to.deep.equal([0, 0, 0, 0]);
  });

  it('lets others be served between slices, even if its store never waits', async () => {
    const other = countingStore();
    for (let i = 0; i < 150; i++) await other.store.users.create(user(i));
    const { list } = other.store.users;
    const turns: number[] = [];
    let turn = 0;
    other.store.users.list = (...given) => {
      turns.push(turn);
      return list.apply(other.store.users, given);
    };
    await using served = await startApi({ store: other.store });
    let counting = true;
    const count = () => {
      turn += 1;
      if (counting) setImmediate(count);
    };
    count();
    await served.get('/users?limit=150');
    counting = false;
    expect(new Set(turns).size, String(turns)).to.equal(4);
  });

  it('counts once', async () => {
    await api.get('/users?limit=1000&count=exact');
    expect(calls.map(({ total }) => total)).to.deep.equal([true, ...Array(5).fill(false)]);
  });

  it('is no longer read when it is large enough', async function () {
    this.timeout(20_000);
    const large = countingStore();
    await using other = await startApi({ store: large.store });
    for (let i = 0; i < 40; i++) await large.store.users.create(user(i, 300_000));
    const first = await other.get('/users?sort=createdAt&limit=1000');
    expect(first.body.users).to.have.lengthOf(28); // The first with which it has 8 Mi characters.
    // By their size, the records behind the first slice come six at a time.
    expect(large.calls.map(({ limit }) => limit)).to.deep.equal([20, 6, 6]);
    const path = `/users?sort=createdAt&limit=1&cursor=${first.body.next}`;
    expect((await other.get(path)).body.users[0]?.id).to.equal('id-0028');
  });
});
