import { copyJson } from '../domain/json.ts';
import { pageLimits } from '../domain/list.ts';
import { type Entity, type Versioned, VersionedRecord } from '../domain/record.ts';
import { compareText, utf8Bytes } from '../domain/text.ts';
import type { RecordTransfer, ScanRequest } from '../ports/transfer.ts';
import {
  assert,
  createNew,
  expectAbsent,
  expectEqual,
  expectError,
  expectRecord,
  expectReplay,
  mutate,
} from './assertions.ts';
import { at, later, post, receipt, shuffled, times, user, variedTexts } from './fixtures.ts';
import { expectMatches, idsOf, insert, recordsOf } from './lists.ts';
import { type Suite, transferOf } from './suite.ts';

/** Records that are read by id and stored as they are. */
export function describeTransfer(suite: Suite): void {
  const { contract, test } = suite;
  if (contract.withoutTransfer === undefined) {
    describeScans(suite);
    describeLoads(suite);
    describeDeletedIds(suite);
    describeConflicts(suite);
  } else {
    test(`has no transfer: ${contract.withoutTransfer}`, async (store) => {
      assert(store.transfer === undefined, 'it has a transfer, but its contract says otherwise');
    });
  }
}

const sortedIds = variedTexts.toSorted(compareText);

function describeScans({ both }: Suite): void {
  both('scan sorts by id, by code point', async ({ records, make, transfer }) => {
    await insert(
      records,
      shuffled(sortedIds).map((id, n) => make({ id, createdAt: at(n) })),
    );
    const { length } = sortedIds;
    for (const limit of [1, 2, length - 1, length, length + 1, 1000]) {
      const found = await scan(transfer, { limit });
      expectEqual(`the length of a scan, limit ${limit}`, found.length, Math.min(limit, length));
      const all = await scanAll(transfer, { limit });
      expectEqual(`the ids of scans, limit ${limit}`, idsOf(recordsOf(all)), sortedIds);
    }
  });

  both('scan begins after any id', async ({ records, make, remove, transfer }) => {
    const after = async (id?: string) => idsOf(recordsOf(await scan(transfer, { after: id })));
    expectEqual('an empty scan', await after(), []);
    const all = ['b', 'd', 'dz', 'd\ue000', 'f'];
    await insert(
      records,
      all.map((id) => make({ id })),
    );
    const begins = { '': 0, a: 0, b: 1, c: 1, d: 2, 'd\u0001': 2, e: 4, f: 5 };
    for (const [id, index] of Object.entries(begins)) {
      expectEqual(`the scan after ${JSON.stringify(id)}`, await after(id), all.slice(index));
    }
    await remove('d');
    for (const id of ['b', 'd']) {
      expectEqual(`the scan after ${id}`, await after(id), all.slice(2));
    }
  });

  both('scan ends before it exceeds its bytes', async ({ records, make, transfer }) => {
    const made = times(6, (n) => make({ id: `r${n}`, custom: '～é😀x'.repeat(40 * n) }));
    await insert(records, made);
    const all = await scan(transfer);
    let bytes = 0;
    for (const [n, { json }] of all.entries()) {
      bytes += utf8Bytes(json);
      const exact = await scan(transfer, { bytes });
      expectEqual(`the length of a scan of ${bytes} bytes`, exact.length, n + 1);
      const less = await scan(transfer, { bytes: bytes - 1 });
      expectEqual(`the length of a scan of ${bytes - 1} bytes`, less.length, Math.max(n, 1));
    }
    expectEqual('scans of 1 byte', recordsOf(await scanAll(transfer, { bytes: 1 })), made);
  });
}

function describeLoads({ both, test }: Suite): void {
  both('load stores records as they are, and replaces others', async (resource) => {
    const { records, make, transfer } = resource;
    const [key, first, other] = [receipt(), make(), make()];
    await records.create(first, key);
    await insert(records, [other]);
    const moved = make({ id: first.id, createdAt: at(5_000_000), n: 1 });
    const brief = make({ createdAt: at(6_000_000) });
    // The second call changes nothing.
    for (const _ of [1, 2]) {
      await transfer.load([loaded(moved, 4), loaded(brief, 7)]);
      expectRecord(await records.get(first.id), moved, 4);
      expectRecord(await records.get(brief.id), brief, 7);
      expectEqual('lastVersion of a loaded id', await records.lastVersion(brief.id), 7);
    }
    await expectMatches(records, [], [other.id, first.id, brief.id]);
    const before = { field: 'createdAt', op: 'before', value: at(4_000_000) } as const;
    await expectMatches(records, [before], [other.id]);
    await expectReplay(records, key, first);
    await expectError(records.create(brief), 'id-taken');
  });

  both('load never gives a version twice', async ({ records, make, remove, transfer }) => {
    const record = make();
    await createNew(records, record);
    await records.update(record.id, ({ record }) => ({ ...record, n: 2 }));
    const expectLoaded = async (version: number, expected: number) => {
      const next = { ...record, loaded: expected };
      await transfer.load([loaded(next, version)]);
      expectRecord(await records.get(record.id), next, expected);
      expectEqual('lastVersion', await records.lastVersion(record.id), expected);
    };
    await expectLoaded(1, 3); // An earlier version than the stored one.
    await expectLoaded(3, 3);
    await remove(record.id);
    await expectLoaded(2, 4); // The id was deleted at a later version,
    await remove(record.id);
    await expectLoaded(4, 5); // or at the same one.
    await remove(record.id);
    await expectLoaded(9, 9);
    await remove(record.id);
    await createNew(records, record, undefined, 10);
  });

  both('load stores hundreds of records, and versions up to 2^53 − 1', async (resource) => {
    const { records, make, transfer } = resource;
    const moments = (n: number) => ({ createdAt: at(n), updatedAt: at(900 - n) });
    const versions = [7, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32 + 7, 2 ** 53 - 1];
    const all = times(300, (n) =>
      loaded(make({ id: `r${n + 100}`, ...moments(n) }), versions[n % versions.length]),
    );
    for (const part of [all, all, all.slice(1, 3), []]) await transfer.load(part);
    const found = await scan(transfer);
    expectEqual('the number of records', found.length, 300);
    for (const [n, { record, version }] of all.entries()) expectRecord(found[n], record, version);
    for (const n of [1, 3, 4]) {
      const { record, version } = all[n] as Versioned<Entity>;
      const next = await records.update(record.id, (current) => ({ ...current.record, n }));
      expectEqual('the version of the next change', next?.version, version + 1);
      expectEqual('lastVersion', await records.lastVersion(record.id), version + 1);
    }
  });

  both('load and scan exchange values, not aliases', async ({ make, transfer }) => {
    const record = make({ custom: [{ n: 1 }] });
    const argument = copyJson(record);
    await transfer.load([{ record: argument, version: 2, json: JSON.stringify(argument) }]);
    mutate(argument);
    for (const again of [1, 2]) {
      const [found] = await scan(transfer);
      expectRecord(found, record, 2, `the record of scan ${again}`);
      mutate(found?.record);
    }
  });

  test('begin and end mark a store that is being filled', async (store) => {
    const transfer = transferOf(store);
    for (const mark of ['end', 'begin', 'begin', 'end', 'end', 'begin'] as const) {
      await transfer[mark]();
      expectEqual(`isFilling after ${mark}`, await transfer.isFilling(), mark === 'begin');
      await store.ready();
      await createNew(store.users, user());
    }
  });
}

function describeDeletedIds({ both }: Suite): void {
  both('deleted.scan returns deleted ids in order, and their last versions', async (resource) => {
    const { records, make, remove, transfer } = resource;
    await insert(
      records,
      shuffled(sortedIds).map((id) => make({ id })),
    );
    const [kept = '', changed = '', back = '', ...rest] = sortedIds;
    await records.update(changed, ({ record }) => ({ ...record, n: 1 }));
    for (const id of [changed, back, ...rest]) await remove(id);
    await createNew(records, make({ id: back }), undefined, 2);
    expectEqual('lastVersion of a record', await records.lastVersion(kept), 1);
    const expected = [
      { id: changed, lastVersion: 2 },
      ...rest.map((id) => ({ id, lastVersion: 1 })),
    ];
    expectEqual('the deleted ids', await transfer.deleted.scan(1000), expected);
    for (const limit of [1, 7, expected.length]) {
      const met: { readonly id: string }[] = [];
      for (;;) {
        const found = await transfer.deleted.scan(limit, met.at(-1)?.id);
        assert(found.length <= limit, `a scan has ${found.length} ids, the limit is ${limit}`);
        if (found.length === 0) break;
        met.push(...found);
      }
      expectEqual(`the deleted ids, limit ${limit}`, met, expected);
    }
  });

  both('deleted.load stores last versions, and never lowers one', async (resource) => {
    const { records, make, remove, transfer } = resource;
    const [live, gone] = [make(), make()];
    await insert(records, [live, gone]);
    await records.update(gone.id, ({ record }) => ({ ...record, n: 1 }));
    await remove(gone.id);
    const large = 2 ** 32;
    await transfer.deleted.load([
      { id: live.id, lastVersion: 9 },
      { id: gone.id, lastVersion: 1 },
      { id: 'new', lastVersion: large },
    ]);
    await transfer.deleted.load([]);
    expectRecord(await records.get(live.id), live);
    const versions = [live.id, gone.id, 'new'].map((id) => records.lastVersion(id));
    expectEqual('lastVersion of each id', await Promise.all(versions), [1, 2, large]);
    await expectAbsent(records, 'new');
    await createNew(records, make({ id: 'new' }), undefined, large + 1);
    await createNew(records, gone, undefined, 3);
    await remove(gone.id);
    await transfer.deleted.load([{ id: gone.id, lastVersion: 7 }]);
    await transfer.load([loaded(gone, 5)]);
    expectRecord(await records.get(gone.id), gone, 8);
  });
}

function describeConflicts({ test }: Suite): void {
  test('load refuses an address of another user until it is free', async (store) => {
    const { users } = transferOf(store);
    const [one, two] = [user(), user({ email: null })];
    await insert(store.users, [one]);
    const given = loaded({ ...one, email: null }, 2);
    const taken = loaded({ ...two, email: one.email }, 3);
    const twins = times(2, () => loaded(user({ email: 'twin@example.com' })));
    for (const refused of [[taken], [taken, given], twins]) {
      await expectError(users.load(refused), 'email-taken');
      await expectAbsent(store.users, two.id);
    }
    await users.load([given, taken]);
    expectRecord(await store.users.get(two.id), taken.record, 3);
  });

  test('load refuses an unknown author, also one who was deleted', async (store) => {
    const { users, posts } = transferOf(store);
    const author = user();
    const record = post({ authorId: author.id, publishedAt: null });
    await expectError(posts.load([loaded(record, 4)]), 'invalid-record');
    await insert(store.users, [author]);
    await store.users.delete(author.id, 'refuse', later);
    await expectError(posts.load([loaded(record, 4)]), 'invalid-record');
    await expectAbsent(store.posts, record.id);
    await users.load([loaded(author, 2)]);
    await posts.load([loaded(record, 4)]);
    expectRecord(await store.posts.get(record.id), record, 4);
  });
}

function loaded<R extends Entity>(record: R, version = 1): Versioned<R> {
  return new VersionedRecord(record, version);
}

function scan<R>(transfer: RecordTransfer<R>, request: Partial<ScanRequest> = {}) {
  return transfer.scan({ limit: 1000, bytes: pageLimits.bytes, ...request });
}

async function scanAll<R extends Entity>(
  transfer: RecordTransfer<R>,
  request: Partial<ScanRequest>,
): Promise<Versioned<R>[]> {
  const met: Versioned<R>[] = [];
  for (let calls = 0; ; calls++) {
    assert(calls < 1000, 'the scan does not end');
    const found = await scan(transfer, { ...request, after: met.at(-1)?.record.id });
    if (found.length === 0) return met;
    met.push(...found);
  }
}
