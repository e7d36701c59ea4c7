import { pageLimits } from '../domain/lists/list.ts';
import { copyJson } from '../domain/records/json.ts';
import { type Entity, type Versioned, VersionedRecord } from '../domain/records/record.ts';
import { compareText, utf8Bytes } from '../domain/records/text.ts';
import type { DeletedId, RecordTransfer, ScanRequest } from '../ports/transfer.ts';
import {
  assert,
  createNew,
  expectAbsent,
  expectEqual,
  expectError,
  expectRecord,
  mutate,
} from './assertions.ts';
import { at, shuffled, times, variedTexts } from './fixtures.ts';
import { idsOf, insert, recordsOf } from './lists/lists.ts';
import type { Suite } from './suite.ts';

/** Records that are read by id and stored as they are. */
export function describeTransfer(suite: Suite): void {
  const { contract, test } = suite;
  if (contract.withoutTransfer === undefined) {
    describeScans(suite);
    describeLoads(suite);
    describeConflicts(suite);
  } else {
    test(`has no transfer: ${contract.withoutTransfer}`, async (store) => {
      assert(store.transfer === undefined, 'it has a transfer, but its contract says otherwise');
    });
  }
}

function describeScans({ testEach }: Suite): void {
  testEach('scans sort records and deleted ids by code point', async (resource) => {
    const { records, make, remove, transfer } = resource;
    const ids = variedTexts.toSorted(compareText);
    const created = shuffled(ids).map((id, n) => make({ id, createdAt: at(n) }));
    await insert(records, created);
    for (const limit of [1, 2, ids.length - 1, ids.length, 1000]) {
      const all = await scanAll(transfer, { limit });
      expectEqual(`the ids of scans, limit ${limit}`, idsOf(recordsOf(all)), ids);
    }
    const [back = '', ...others] = ids;
    for (const id of ids) await remove(id);
    await createNew(records, make({ id: back }), undefined, 2);
    const expected = others.map((id) => ({ id, lastVersion: 1 }));
    for (const limit of [1, 7, 1000]) {
      const scanned: DeletedId[] = [];
      for (;;) {
        const found = await transfer.deleted.scan(limit, scanned.at(-1)?.id);
        assert(found.length <= limit, `a scan has ${found.length} ids, the limit is ${limit}`);
        if (found.length === 0) break;
        scanned.push(...found);
      }
      expectEqual(`the deleted ids, limit ${limit}`, scanned, expected);
    }
  });

  testEach('scan ends before it exceeds its bytes', async ({ records, make, transfer }) => {
    const created = times(6, (n) => make({ id: `r${n}`, custom: '～é😀x'.repeat(40 * n) }));
    await insert(records, created);
    const all = await scan(transfer);
    let bytes = 0;
    for (const [n, { json }] of all.entries()) {
      bytes += utf8Bytes(json);
      const exact = await scan(transfer, { bytes });
      expectEqual(`the length of a scan of ${bytes} bytes`, exact.length, n + 1);
      const less = await scan(transfer, { bytes: bytes - 1 });
      expectEqual(`the length of a scan of ${bytes - 1} bytes`, less.length, Math.max(n, 1));
    }
    expectEqual('scans of 1 byte', recordsOf(await scanAll(transfer, { bytes: 1 })), created);
  });
}

function describeLoads({ testEach }: Suite): void {
  testEach('load stores hundreds of records, and versions up to 2^53 − 1', async (resource) => {
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

  testEach('load and scan exchange values, not aliases', async ({ make, transfer }) => {
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
}

function describeConflicts({ testEach }: Suite): void {
  testEach('load rejects a value of another type than declared', async (resource) => {
    const { name, records, make, transfer } = resource;
    const record = make({ [name === 'users' ? 'age' : 'pages']: '5' });
    await expectError(transfer.load([loaded(record)]), 'invalid-record');
    await expectAbsent(records, record.id);
  });
}

function loaded<R extends Entity>(record: R, version = 1): Versioned<R> {
  return new VersionedRecord(record, version);
}

function scan<R>(transfer: RecordTransfer<R>, request: Partial<ScanRequest> = {}) {
  return transfer.scan({ limit: 1000, bytes: pageLimits.bytes, ...request });
}

/** Scans to the end. */
export async function scanAll<R extends Entity>(
  transfer: RecordTransfer<R>,
  request: Partial<ScanRequest>,
): Promise<Versioned<R>[]> {
  const scanned: Versioned<R>[] = [];
  for (let calls = 0; ; calls++) {
    assert(calls < 1000, 'the scan does not end');
    const found = await scan(transfer, { ...request, after: scanned.at(-1)?.record.id });
    const { limit = found.length } = request;
    assert(found.length <= limit, `a scan has ${found.length} records, the limit is ${limit}`);
    if (found.length === 0) return scanned;
    scanned.push(...found);
  }
}
