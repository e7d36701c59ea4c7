// Fails a POST with an Idempotency-Key before and after each of its steps. Whatever the outcome, a retry must
// create exactly one record or return the one that was created.

import { expect } from 'chai';
import type { Answer } from '../adapters/http/support/answer.ts';
import { type Api, startApi } from '../adapters/http/support/api.ts';
import { keepLog } from '../adapters/http/support/log.ts';
import {
  Creation,
  expectReplayed,
  expectUnavailable,
  type Resource,
  resources,
} from './creations.ts';
import type { Side } from './faults.ts';
import { describeOnEach } from './subjects.ts';

interface Failed {
  readonly creation: Creation;
  readonly response: Answer;
}

/** More steps than any creation has. */
const enough = 100;

await describeOnEach('an idempotent POST that fails', (subject, faults) => {
  let api: Api;
  let author: string;

  before(async function open() {
    this.timeout(60_000);
    await start();
    author = (await api.make('/users', { name: 'Ann' })).id;
  });
  after(() => stop());

  async function start(): Promise<void> {
    const { logger } = keepLog(); // Without a logger, each failure would be printed.
    api = await startApi({ store: await subject.open(), app: { logger } });
    await api.store.ready();
  }

  async function stop(): Promise<void> {
    await api[Symbol.asyncDispose]();
  }

  /** Fails each step of a creation in turn, until there are no more. */
  async function failEach(resource: Resource, side: Side, lasting: boolean): Promise<Failed[]> {
    const failed: Failed[] = [];
    for (let step = 0; step < enough; step++) {
      const creation = new Creation(resource, author);
      faults.arm({ step, side, lasting });
      const response = await creation.post(api);
      if (lasting) await stop();
      const hit = faults.disarm();
      if (lasting) await start();
      if (response.status !== 201) expectUnavailable(response, hit);
      if (hit === undefined) {
        expect(response.status, response.text).to.equal(201);
        return failed;
      }
      failed.push({ creation, response });
    }
    throw new Error(`The creation has more than ${enough} steps.`);
  }

  for (const resource of resources) {
    // On MongoDB, each of these calls takes 8 s, so only faults.long.ts runs them.
    const isWhole = subject.isSlow !== true || process.env.LASTING_FAULTS !== undefined;
    for (const lasting of isWhole ? [false, true] : [false]) {
      const what = lasting ? 'any step until a restart' : 'any single step';
      it(`creates one record (${resource}) if it fails at ${what} and is retried`, async function test() {
        this.timeout(lasting && subject.isSlow ? 600_000 : 60_000);
        const all: Failed[] = [];
        for (const side of subject.sides) {
          const failed = await failEach(resource, side, lasting);
          expect(failed, side).to.not.be.empty;
          all.push(...failed);
        }
        const retried = await Promise.all(
          all.map(async (one) => ({ ...one, made: await one.creation.retry(api) })),
        );
        await subject.release?.();
        for (const { creation, response, made } of retried) {
          if (response.status === 201) expectReplayed(made, response);
          await creation.expectOne(api, made);
        }
      });
    }
  }

  it('creates one record if sent 5 times concurrently, whichever step fails', async function test() {
    this.timeout(60_000);
    for (const side of subject.sides) {
      let step = 0;
      for (let hit: string | undefined = 'none yet'; hit !== undefined; step++) {
        const creation = new Creation('users', author);
        faults.arm({ step, side, lasting: false });
        await Promise.all(Array.from({ length: 5 }, () => creation.post(api)));
        hit = faults.disarm();
        const made = await creation.retry(api);
        await subject.release?.();
        await creation.expectOne(api, made);
      }
      expect(step, `steps ${side}`).to.be.greaterThan(1);
    }
  });
});
