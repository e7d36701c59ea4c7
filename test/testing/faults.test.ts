import { expect } from 'chai';
import { createMemoryStore } from '../../src/adapters/memory/index.ts';
import { authors } from './faults/authors.ts';
import { claims } from './faults/claims.ts';
import { creation } from './faults/creation.ts';
import { deletion } from './faults/deletion.ts';
import { emails } from './faults/emails.ts';
import { lifecycle } from './faults/lifecycle.ts';
import { listsUnderChange } from './faults/list-races.ts';
import { filters, orders } from './faults/lists.ts';
import { moves } from './faults/moves.ts';
import { orphanRaces } from './faults/orphans.ts';
import { ownFields } from './faults/own-fields.ts';
import { pages } from './faults/pages.ts';
import { type Fault, openPlanted } from './faults/plant.ts';
import { races } from './faults/races.ts';
import { updates } from './faults/updates.ts';
import { userDeletion } from './faults/user-deletion.ts';
import { values } from './faults/values.ts';
import { collect, failuresOf } from './runner.ts';

/** The faults of each group of the suite, by the group’s name. */
const planted: Record<string, Fault[]> = {
  values,
  'own fields': ownFields,
  creation,
  claims,
  updates,
  emails,
  authors,
  deletion,
  'deletion of users': userDeletion,
  orders,
  filters,
  pages,
  moves,
  races,
  'orphan races': orphanRaces,
  'lists under change': listsUnderChange,
  lifecycle,
};

/** Not run where nothing is expected of them: the sentences that take their time. */
const slow = ['a record comes back that is as large as it may be'];

describe('the contract suite, on a store with', () => {
  const caught = new Set<string>();
  let run = 0;

  it('no fault: passes', async () => {
    expect(await failuresOf(collect(createMemoryStore))).to.deep.equal([]);
  });

  it('a wrapper that changes nothing: passes', async () => {
    expect(await failuresOf(collect(() => openPlanted({})))).to.deep.equal([]);
  });

  for (const [group, faults] of Object.entries(planted)) {
    describe(`a fault in its ${group}`, () => {
      for (const { fault, breaks, plan } of faults) {
        it(`${fault}: fails at “${breaks} …”`, async () => {
          const isExpected = ({ sentence }: { sentence: string }) => sentence.startsWith(breaks);
          const tests = collect(() => openPlanted(plan)).filter(
            (test) =>
              test.group === group &&
              (isExpected(test) || !slow.some((start) => test.sentence.startsWith(start))),
          );
          expect(tests.some(isExpected), 'there is such a test').to.equal(true);

          const failures = await failuresOf(tests);
          const told = failures.map(({ sentence }) => sentence).join('; ');
          const noticed = failures.find(isExpected);
          expect(noticed, `it fails; what failed: ${told}`).not.to.equal(undefined);
          expect(noticed?.error, 'the fault itself is no accident').not.to.be.instanceOf(TypeError);

          for (const { sentence } of failures) caught.add(`${group}: ${sentence}`);
          run++;
        });
      }
    });
  }

  describe('all of these', () => {
    it('has no test that none of them fails', function everyTest() {
      if (run < Object.values(planted).flat().length) this.skip(); // some were not run, by --grep
      const tests = collect(createMemoryStore).map(
        ({ group, sentence }) => `${group}: ${sentence}`,
      );
      expect(tests.filter((test) => !caught.has(test))).to.deep.equal([]);
    });
  });
});
