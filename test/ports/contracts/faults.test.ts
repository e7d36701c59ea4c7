import { expect } from 'chai';
import { createMemoryStore } from '../../../src/adapters/memory/index.ts';
import { authors } from './faults/authors.ts';
import { claims } from './faults/claims.ts';
import { creation } from './faults/creation.ts';
import { deletion } from './faults/deletion.ts';
import { emails } from './faults/emails.ts';
import { lifecycle } from './faults/lifecycle.ts';
import { listsUnderChange } from './faults/list-races.ts';
import { filters, orders } from './faults/lists.ts';
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
  races,
  'orphan races': orphanRaces,
  'lists under change': listsUnderChange,
  lifecycle,
};

describe('the contract suite, on a store with', () => {
  it('no fault: passes', async () => {
    expect(await failuresOf(collect(createMemoryStore))).to.deep.equal([]);
  });

  it('a wrapper that changes nothing: passes', async () => {
    expect(await failuresOf(collect(() => openPlanted({})))).to.deep.equal([]);
  });

  it('a fault in any group: each group has its faults here', () => {
    const groups = new Set(collect(createMemoryStore).map(({ group }) => group));
    expect(Object.keys(planted)).to.have.members([...groups]);
    for (const faults of Object.values(planted)) expect(faults).to.be.an('array').that.is.not.empty;
  });

  for (const [group, faults] of Object.entries(planted)) {
    describe(`a fault in its ${group}`, () => {
      for (const { fault, breaks, plan } of faults) {
        it(`${fault}: fails at “${breaks} …”`, async () => {
          const tests = collect(() => openPlanted(plan)).filter((test) => test.group === group);
          expect(
            tests.some(({ sentence }) => sentence.startsWith(breaks)),
            'there is such a test',
          ).to.equal(true);
          const failures = await failuresOf(tests);
          const noticed = failures.find(({ sentence }) => sentence.startsWith(breaks));
          const told = failures.map(({ sentence }) => sentence).join('; ');
          expect(noticed, `it fails; what failed: ${told}`).not.to.equal(undefined);
          expect(noticed?.error, 'the fault itself is no accident').not.to.be.instanceOf(TypeError);
        });
      }
    });
  }
});
