import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Api, startApi } from '../adapters/http/support/api.ts';
import { Creation, expectReplayed } from './creations.ts';
import { Faults } from './faults.ts';
import { describeOnEach, type Subject } from './subjects.ts';

const day = 24 * 60 * 60 * 1000;

await describeOnEach('Idempotent POSTs under one key', (make) => {
  const faults = new Faults();
  const subjectOf = make(faults);
  let subject: Subject;
  let api: Api;
  let author: string;
  let now = Date.UTC(2026, 0, 1);

  before(async function open() {
    this.timeout(60_000);
    subject = subjectOf();
    const clock = { now: () => new Date(now).toISOString() };
    api = await startApi({ store: await subject.open(), core: { clock } });
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => api[Symbol.asyncDispose]());

  for (const kind of ['users', 'posts'] as const) {
    it(`make one of ${kind}, 20 at once`, async () => {
      const creation = new Creation(kind, author);
      const answers = await Promise.all(Array.from({ length: 20 }, () => creation.post(api)));
      const [first, ...others] = answers.filter(
        ({ headers }) => !headers.has('idempotency-replayed'),
      );
      if (first === undefined) throw new Error('All were replayed.');
      expect([first.status, others]).to.deep.equal([201, []]);
      for (const answer of answers) if (answer !== first) expectReplayed(answer, first);
      await creation.expectOne(api, first);
    });

    it(`make one of ${kind} a day`, async () => {
      const key = { 'Idempotency-Key': randomUUID() };
      const body = { name: 'Bea', title: 'Bea', ...(kind === 'posts' && { authorId: author }) };
      const post = () => api.post(`/${kind}`, body, key);
      const first = await post();
      now += day - 1;
      expectReplayed(await post(), first);
      now += 1;
      const second = await post();
      expect([second.status, second.headers.get('idempotency-replayed')]).to.deep.equal([
        201,
        null,
      ]);
      expect(second.body.id).not.to.equal(first.body.id);
      now += day - 1;
      expectReplayed(await post(), second);
    });
  }

  it('make one record, 5 at once, whichever of their steps fails', async function test() {
    this.timeout(30_000);
    let hits = 0;
    for (const side of subject.sides) {
      for (let step = 0; ; step++) {
        const creation = new Creation('users', author);
        faults.arm({ step, side, lasting: false });
        await Promise.all(Array.from({ length: 5 }, () => creation.post(api)));
        if (faults.disarm() === undefined) break;
        hits += 1;
        const made = await creation.retry(api);
        await subject.release?.();
        await creation.expectOne(api, made);
      }
    }
    expect(hits).to.be.greaterThan(1);
  });
});
