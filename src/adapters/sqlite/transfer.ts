import { cutPage } from '../../domain/list.ts';
import { type Entity, type Version, type Versioned, VersionedRecord } from '../../domain/record.ts';
import type { RecordTransfer, ScanRequest, Transfer } from '../../ports/transfer.ts';
import { orderable } from './lists/lists.ts';
import { postScheme } from './posts.ts';
import { RecordTable, type RowMapping } from './record-table.ts';
import { reading, type StoreParts } from './repository.ts';
import { userScheme } from './users.ts';

/** Records that are loaded in one step; it takes some milliseconds. */
const partLength = 200;

export function sqliteTransfer(parts: StoreParts): Transfer {
  return { users: recordTransfer(parts, userScheme), posts: recordTransfer(parts, postScheme) };
}

function recordTransfer<R extends Entity>(
  { connection, writes }: StoreParts,
  mapping: RowMapping<R>,
): RecordTransfer<R> {
  const table = new RecordTable(connection, mapping);
  const sql = `SELECT version, record FROM ${mapping.table} WHERE id >= ? ORDER BY id LIMIT ?`;

  function* rows({ after = '', limit }: ScanRequest): Iterable<Versioned<R>> {
    const first = orderable(after) === after ? `${after}\0` : orderable(after);
    for (const [version, json] of connection.iterate<[Version, string]>(sql, first, limit)) {
      yield new VersionedRecord<R>(json, version);
    }
  }

  return {
    async scan(request) {
      return reading(() => cutPage(rows(request), request, nowhere).items);
    },

    async load(records) {
      // Taken now and not later: what the caller does to them meanwhile is not stored.
      const taken = records.map(({ json, version }) => new VersionedRecord<R>(json, version));
      // All are queued now, as the store may be closed meanwhile; in parts, so that other changes,
      // those of other processes too, come in between.
      const parts: Promise<void>[] = [];
      while (taken.length > 0) {
        const part = taken.splice(0, partLength);
        parts.push(
          writes.add(() => {
            for (const record of part) table.put(record);
          }),
        );
      }
      const failed = (await Promise.allSettled(parts)).find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
    },
  };
}

/** A scan needs no position: the next one begins behind the last id. */
function nowhere() {
  return { key: null, id: '' };
}
