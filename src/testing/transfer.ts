import { copyJson } from '../domain/json.ts';
import { pageLimits } from '../domain/list.ts';
import { type Entity, type Versioned, VersionedRecord } from '../domain/record.ts';
import { utf8Bytes } from '../domain/text.ts';
import type { RecordTransfer, ScanRequest } from '../ports/transfer.ts';
import { absent, check, is, raises, repeats, same, vandalize } from './assertions.ts';
import { at, byCodePoint, post, receipt, shuffled, times, user } from './fixtures.ts';
import { idsOf, matches, put, putEach, recordsOf } from './lists.ts';
import { type Suite, transferOf } from './suite.ts';

/** Whole stores on the move: records that are read by id and stored as they are. */
export function describeTransfer(suite: Suite): void {
  const { contract, test } = suite;
  if (contract.withoutTransfer === undefined) {
    describeScans(suite);
    describeLoads(suite);
    describeConflicts(suite);
  } else {
    test(`there is none: ${contract.withoutTransfer}`, async (store) => {
      check(store.transfer === undefined, 'it has a transfer, which its contract denies');
    });
  }
}

function describeScans({ both }: Suite): void {
  both('scan goes by id in the order of code points', async ({ records, make, transfer }) => {
    const made = shuffled(byCodePoint).map((id, n) => make({ id, createdAt: at(n) }));
    await put(records, made);
    const { length } = byCodePoint;
    for (const limit of [1, 2, length - 1, length, length + 1, 1000]) {
      const found = await scan(transfer, { limit });
      is(`records of a scan, limit ${limit},`, found.length, Math.min(limit, length));
      const met = await scanAll(transfer, { limit });
      is(`scan, limit ${limit}`, idsOf(recordsOf(met)), byCodePoint);
    }
  });

  both('scan begins behind an id, whatever text it is', async (resource) => {
    const { records, make, remove, transfer } = resource;
    const behind = async (after?: string) => idsOf(recordsOf(await scan(transfer, { after })));
    is('scan of nothing', await behind(), []);
    const all = ['b', 'd', 'dz', 'd\ue000', 'f'];
    await putEach(records, all, (id) => make({ id }));
    const begins = { '': 0, a: 0, b: 1, c: 1, d: 2, e: 4, f: 5 };
    // No record has such an id: a NUL comes before all of ASCII, half of a surrogate pair behind.
    const strange = { '\0': 0, 'd\0': 2, 'd\0zz': 2, 'd\ud800': 3, 'f\udfff': 5 };
    for (const [after, index] of Object.entries({ ...begins, ...strange })) {
      is(`scan behind ${JSON.stringify(after)}`, await behind(after), all.slice(index));
    }
    await remove('d');
    for (const after of ['b', 'd']) {
      is(`scan behind ${after}`, await behind(after), all.slice(2));
    }
  });

  both('scan ends before it is over its bytes', async ({ records, make, transfer }) => {
    const made = times(6, (n) => make({ id: `r${n}`, custom: '～é😀x'.repeat(40 * n) }));
    await put(records, made);
    const all = await scan(transfer);
    let bytes = 0;
    for (const [n, { json }] of all.entries()) {
      bytes += utf8Bytes(json);
      is(`records in ${bytes} bytes`, (await scan(transfer, { bytes })).length, n + 1);
      const less = await scan(transfer, { bytes: bytes - 1 });
      is(`records in ${bytes - 1} bytes`, less.length, Math.max(n, 1));
    }
    const met = await scanAll(transfer, { bytes: 1 });
    is('scan, record by record', recordsOf(met), made);
  });
}

function describeLoads({ both }: Suite): void {
  both(
    'load replaces a record, and brings back a deleted one; their ids are taken',
    async (resource) => {
      const { records, make, remove, transfer } = resource;
      const [key, first, other, gone] = [receipt(), make(), make(), make()];
      await records.create(first, key);
      await put(records, [other, gone]);
      await records.update(first.id, ({ record }) => ({ ...record, n: 1 }));
      await remove(gone.id);
      const moved = make({ id: first.id, createdAt: at(5_000_000) });
      const back = make({ id: gone.id, createdAt: at(6_000_000) });
      // Made again, it comes to the same.
      for (const _ of [1, 2]) await transfer.load([loaded(moved), loaded(back, 4)]);
      same(await records.get(first.id), moved);
      same(await records.get(gone.id), back, 4);
      await matches(records, {}, [other.id, first.id, gone.id]);
      await matches(records, { createdAt: { before: at(4_000_000) } }, [other.id]);
      await repeats(records, key, first);
      const brief = make();
      await transfer.load([loaded(brief)]);
      await remove(brief.id);
      is('isIdTaken of a loaded id', await records.isIdTaken(brief.id), true);
      await raises(records.create(brief), 'id-taken');
    },
  );

  both('load stores hundreds of records as they are, and any of them again', async (resource) => {
    const { records, make, transfer } = resource;
    const moments = (n: number) => ({ createdAt: at(n), updatedAt: at(900 - n) });
    const versions = [7, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 7, 2 ** 53 - 1];
    const all = times(300, (n) =>
      loaded(make({ id: `r${n + 100}`, ...moments(n) }), versions[n % 5]),
    );
    for (const part of [all, all, all.slice(1, 3), []]) await transfer.load(part);
    const found = await scan(transfer);
    is('records', found.length, 300);
    for (const [n, { record, version }] of all.entries()) same(found[n], record, version);
    await matches(records, { updatedAt: { from: at(899), before: at(900) } }, ['r101']);
    const next = await records.update('r101', (current) => ({ ...current.record, n: 9 }));
    is('version of the next change', next?.version, 2 ** 31);
  });

  both('load and scan hand over values and no aliases', async ({ make, transfer }) => {
    const record = make({ custom: [{ n: 1 }] });
    const handed = copyJson(record);
    await transfer.load([{ record: handed, version: 2, json: JSON.stringify(handed) }]);
    vandalize(handed);
    for (const again of [1, 2]) {
      const [found] = await scan(transfer);
      same(found, record, 2, `scan ${again}`);
      vandalize(found?.record);
    }
  });
}

function describeConflicts({ test }: Suite): void {
  test('load: an address that another user has is refused until it is given up', async (store) => {
    const { users } = transferOf(store);
    const [one, two] = [user(), user()];
    await put(store.users, [one]);
    const given = loaded({ ...one, email: null }, 2);
    const taken = loaded({ ...two, email: one.email }, 3);
    const twins = times(2, () => loaded(user({ email: 'twin@example.com' })));
    for (const refused of [[taken], [taken, given], twins]) {
      await raises(users.load(refused), 'email-taken');
      await absent(store.users, two.id);
    }
    await users.load([given, taken]);
    same(await store.users.get(two.id), taken.record, 3);
  });

  test('load: a post that names an unknown author is refused', async (store) => {
    const { users, posts } = transferOf(store);
    const author = user();
    const record = post({ authorId: author.id });
    await raises(posts.load([loaded(record, 4)]), 'invalid-record');
    await absent(store.posts, record.id);
    await users.load([loaded(author, 2)]);
    await posts.load([loaded(record, 4)]);
    same(await store.posts.get(record.id), record, 4);
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
    check(calls < 1000, 'the scan does not come to an end');
    const found = await scan(transfer, { ...request, after: met.at(-1)?.record.id });
    if (found.length === 0) return met;
    met.push(...found);
  }
}
