import type { Id } from './records.ts';
import type { CallOptions } from './transport.ts';

/** The maximum number of ids that the server accepts in one request. */
const maxIds = 100;
/**
 * The maximum size of the ids in one URL. 100 UUIDs fit. It leaves room for other parameters: common
 * proxies accept URLs of 8 KiB, and the server 12 KiB.
 */
const maxBytes = 4096;

/** Splits ids into batches that fit into a URL. */
export function batchesOf(ids: readonly Id[]): Id[][] {
  const batches: Id[][] = [];
  let bytes = 0;
  for (const id of new Set(ids)) {
    const size = `&${new URLSearchParams({ id })}`.length;
    const batch = batches.at(-1);
    if (batch === undefined || batch.length === maxIds || bytes + size > maxBytes) {
      batches.push([id]);
      bytes = size;
    } else {
      batch.push(id);
      bytes += size;
    }
  }
  return batches;
}

interface BatchPage {
  readonly next: string | null;
  readonly total?: number;
}

/**
 * Lists records by more ids than fit into one URL, batch by batch. Its cursors have the index of the
 * batch and the server's cursor.
 *
 * @throws TypeError for a sort, because the server sorts each batch on its own
 */
export async function listBatches<Page extends BatchPage>(
  list: (query: object, options: CallOptions) => Promise<Page>,
  query: { readonly cursor?: unknown; readonly count?: unknown; readonly sort?: unknown },
  batches: readonly Id[][],
  options: CallOptions,
): Promise<Page> {
  if (query.sort !== undefined) {
    throw new TypeError('A list by more ids than fit into one request cannot be sorted.');
  }
  const [, index, cursor] = /^(\d+)\.(.*)$/.exec(String(query.cursor ?? '0.')) ?? [];
  const id = batches[Number(index)];
  if (id === undefined) throw new TypeError('The cursor does not belong to this list.');
  const page = await list({ ...query, id, cursor: cursor || undefined }, options);
  const following = Number(index) + 1;
  const atEnd = following === batches.length ? null : `${following}.`;
  const next = page.next === null ? atEnd : `${index}.${page.next}`;
  if (query.count === undefined) return { ...page, next };
  let total = page.total ?? 0;
  for (const other of batches) {
    if (other === id) continue;
    const { total: more = 0 } = await list(
      { ...query, id: other, cursor: null, limit: 1 },
      options,
    );
    total += more;
  }
  return { ...page, next, total };
}
