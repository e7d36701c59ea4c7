// Sends the same requests to two servers that differ only in data hidden from the caller. Every response must
// be the same on both, in its status, its headers and each byte of its body.

import { expect } from 'chai';
import { createMemoryStore } from '../../../../../src/adapters/memory/index.ts';
import { isRostrumError, RostrumError } from '../../../../../src/domain/errors.ts';
import { pickFields, VersionedRecord } from '../../../../../src/domain/records/record.ts';
import type { Precondition, PublicUser } from '../../../../../src/index.ts';
import { randomFrom } from '../../../../fuzz/random.ts';
import {
  describeOnStores,
  isOnAllStores,
  type OpenStore,
  type StoreName,
} from '../../../../support/stores.ts';
import type { Answer } from '../../support/answer.ts';
import { as } from '../../support/callers.ts';
import { at, type Leak, publicUserFields, self, startPairedServer } from './paired-servers.ts';
import { Requests, type Sent } from './requests.ts';

const callers = {
  'without credentials': {},
  'who changes their own user and posts': as({
    ...{ name: 'self', subject: self },
    scopes: ['posts:read', 'posts:write:own', 'users:write:own'],
  }),
  'with users:read:public': as({ name: 'reader', scopes: ['users:read:public'] }),
} as const;

/** Returns everything that a client sees, without the Date header. */
function shown({ status, headers, text }: Answer) {
  const named = [...headers].filter(([name]) => name !== 'date');
  return { status, headers: Object.fromEntries(named), text };
}

interface Difference {
  readonly sent: Sent;
  readonly answers: readonly Answer[];
}

/** Returns the first request whose responses differ. */
async function differenceIn(
  requests: number,
  caller: Readonly<Record<string, string>>,
  open: OpenStore,
  leak?: Leak,
): Promise<{ readonly found?: Difference; readonly seen: ReadonlyMap<number, number> }> {
  let step = 0;
  const clock = { now: () => at(step) };
  await using one = await startPairedServer(0, open, clock, leak);
  await using other = await startPairedServer(1, open, clock, leak);
  const made = new Requests(randomFrom(2030));
  const seen = new Map<number, number>();
  for (; step < requests; step++) {
    const sent = made.next();
    const { method, path, headers, body } = sent;
    const send = ({ api }: typeof one) => api.send(method, path, { ...headers, ...caller }, body);
    const answers = await Promise.all([send(one), send(other)]);
    const [a, b] = answers;
    if (JSON.stringify(shown(a)) !== JSON.stringify(shown(b)))
      return { found: { sent, answers }, seen };
    made.keep(a.body.next);
    seen.set(a.status, (seen.get(a.status) ?? 0) + 1);
  }
  return { seen };
}

/** Leaks that the test has to find. */
const leaks: Readonly<Record<string, readonly [caller: keyof typeof callers, leak: Leak]>> = {
  'a count that includes hidden posts': [
    'without credentials',
    () => (services, _, all) => ({
      ...services,
      posts: {
        ...services.posts,
        async list(request = {}) {
          const page = await services.posts.list(request);
          if (page.total === undefined) return page;
          const { filter = {} } = request;
          return { ...page, total: (await all.posts.list({ filter, total: true })).total };
        },
      },
    }),
  ],
  'included authors with private fields': [
    'without credentials',
    (_, { users: whole }) =>
      (services) => ({
        ...services,
        posts: {
          ...services.posts,
          async listWithAuthors(request) {
            const page = await services.posts.listWithAuthors(request);
            const users = page.users.map(({ record }) => whole.get(record.id));
            return { ...page, users: await Promise.all(users) };
          },
        },
      }),
  ],
  'a 412 for a hidden draft': [
    'who changes their own user and posts',
    ({ posts: stored }) =>
      (services) => ({
        ...services,
        posts: {
          ...services.posts,
          async delete(id, precondition: Precondition = {}) {
            try {
              await services.posts.delete(id, precondition);
            } catch (error) {
              const there = await stored.get(id);
              const isHidden = isRostrumError(error, 'post-not-found') && there !== undefined;
              if (!isHidden || precondition.only === undefined) throw error;
              throw new RostrumError('version-mismatch', { version: there.version });
            }
          },
        },
      }),
  ],
  'a list sorted by email address': [
    'with users:read:public',
    (_, { users: whole }) =>
      (services) => ({
        ...services,
        users: {
          ...services.users,
          async listPublic(request = {}) {
            if (request.order?.by !== 'email') return services.users.listPublic(request);
            const page = await whole.list(request);
            const fields = ['id', 'name', 'createdAt', ...publicUserFields];
            const items = page.items.map(({ record, version }) => {
              return new VersionedRecord(pickFields(record as PublicUser, fields), version);
            });
            return { ...page, items };
          },
        },
      }),
  ],
};

const itTellsNothing = (open: OpenStore, name: StoreName): void => {
  const requests = isOnAllStores && name === 'memory' ? 2000 : 300;

  for (const [who, caller] of Object.entries(callers)) {
    it(`give the same responses to ${requests} requests of a caller ${who}`, async function () {
      this.timeout(240_000);
      const { found, seen } = await differenceIn(requests, caller, open);
      const told = found && { sent: found.sent, answers: found.answers.map(shown) };
      expect(JSON.stringify(told, undefined, 1) ?? 'none').to.equal('none');
      // Rejected requests alone would prove nothing.
      expect(seen.get(200), JSON.stringify([...seen])).to.be.above(requests / 20);
    });
  }
};

await describeOnStores('two servers that differ only in hidden data', itTellsNothing, true);

describe('two servers can be told apart', () => {
  const open: OpenStore = async (options) => createMemoryStore(options);

  for (const [fault, [who, leak]] of Object.entries(leaks)) {
    it(`by ${fault}`, async function () {
      this.timeout(60_000);
      const { found } = await differenceIn(2000, callers[who], open, leak);
      expect(found).not.to.equal(undefined);
    });
  }

  it('by an email address that is taken, as docs/security.md documents', async () => {
    const clock = { now: () => at(0) };
    await using one = await startPairedServer(0, open, clock);
    await using other = await startPairedServer(1, open, clock);
    const caller = callers['who changes their own user and posts'];
    const statuses = [one, other].map(async ({ api }) => {
      return (await api.send('PATCH', '/users/me', caller, { email: '0.a@x.org' })).status;
    });
    expect(await Promise.all(statuses)).to.deep.equal([409, 200]);
  });
});
