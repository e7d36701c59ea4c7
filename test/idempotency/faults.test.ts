import { expect } from 'chai';
import { type Answer, type Api, startApi } from '../adapters/http/support/api.ts';
import { Creation, expectReplayed, type Kind, unavailable } from './creations.ts';
import { Faults, type Side } from './faults.ts';
import { describeOnEach, type Subject } from './subjects.ts';

// A POST with an Idempotency-Key, failed before and after every step that it takes: however it
// ended, its retry makes exactly one record or finds the one that it made.

interface Failed {
  readonly creation: Creation;
  readonly answer: Answer;
}

/** More steps than a creation has. */
const enough = 100;

await describeOnEach('An idempotent POST that fails', (make) => {
  const faults = new Faults();
  const subjectOf = make(faults);
  let subject: Subject;
  let api: Api;
  let author: string;

  before(async function open() {
    this.timeout(60_000);
    subject = subjectOf();
    await start();
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => stop());

  async function start(): Promise<void> {
    api = await startApi({ store: await subject.open() });
    await api.store.ready();
  }

  async function stop(): Promise<void> {
    await api[Symbol.asyncDispose]();
  }

  /** Fails one step after another of a creation, until there is none left. */
  async function failEach(kind: Kind, side: Side, lasting: boolean): Promise<Failed[]> {
    const failed: Failed[] = [];
    for (let step = 0; step < enough; step++) {
      const creation = new Creation(kind, author);
      faults.arm({ step, side, lasting });
      const answer = await creation.post(api);
      if (lasting && subject.lasts) await stop();
      const hit = faults.disarm();
      if (lasting && subject.lasts) await start();
      if (hit === undefined) {
        expect(answer.status, answer.text).to.equal(201);
        return failed;
      }
      if (answer.status !== 201) {
        expect([answer.status, answer.body.code], hit).to.deep.equal(unavailable);
      }
      failed.push({ creation, answer });
    }
    throw new Error(`It has more than ${enough} steps.`);
  }

  async function retryAndExpectOne(failed: readonly Failed[]): Promise<void> {
    const retried = await Promise.all(failed.map(({ creation }) => creation.retry(api)));
    await subject.release?.();
    for (const [i, { creation, answer }] of failed.entries()) {
      const made = retried[i];
      if (made === undefined) throw new RangeError(`There is no answer ${i}.`);
      if (answer.status === 201) expectReplayed(made, answer);
      await creation.expectOne(api, made);
      expectReplayed(await creation.post(api), made);
    }
  }

  for (const kind of ['users', 'posts'] as const) {
    for (const lasting of [false, true]) {
      const what = lasting ? 'each step and all behind it, until a restart' : 'each step alone';
      it(`makes one of ${kind} when it fails at ${what}`, async function test() {
        this.timeout(30_000);
        const all: Failed[] = [];
        for (const side of subject.sides) {
          const failed = await failEach(kind, side, lasting);
          expect(failed, side).to.not.be.empty;
          all.push(...failed);
        }
        await retryAndExpectOne(all);
      });
    }
  }
});
