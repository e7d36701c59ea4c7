import type { AbstractCursor } from 'mongodb';
import { cutPage, type Position } from '../../../domain/list.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { LargeReads, Read } from '../connection/large-reads.ts';

/** What a query finds, as the server sends it: up to 16 MiB at once. */
export async function* batches<T>(
  call: Call,
  open: (bounds: Bounds) => AbstractCursor<T>,
  read?: Read,
): AsyncGenerator<NonNullable<T>[]> {
  let cursor: AbstractCursor<T> | undefined;
  const next = async (bounds: Bounds): Promise<NonNullable<T>[]> => {
    cursor ??= open(bounds);
    return (await cursor.hasNext()) ? cursor.readBufferedDocuments() : [];
  };
  try {
    do {
      yield await call.readPart((bounds) => {
        const work = next(bounds);
        read?.sent(work);
        return work;
      });
    } while (cursor?.closed === false);
  } finally {
    // The server holds an open cursor for the session, which ends after this.
    if (cursor?.closed === false) await call.readPart(async () => cursor?.close()).catch(() => {});
  }
}

/**
 * Cuts a page off what a query finds, with little more of it parsed than that, and no more of it
 * fetched than the batch that the page ends in.
 */
export async function pageOf<V extends { readonly json: string }>(
  found: AsyncIterable<readonly Uint8Array[]>,
  reads: LargeReads,
  read: Read,
  size: { readonly limit: number; readonly bytes: number },
  parse: (bson: Uint8Array) => V,
  position: (record: V) => Position,
): Promise<{ readonly items: V[]; readonly next?: Position }> {
  const items: V[] = [];
  let characters = 0;
  for await (const batch of found) {
    read.received(batch);
    for (const bson of batch) {
      const item = await reads.parse(bson, parse);
      characters += item.json.length;
      items.push(item);
      // A character has one byte at least: then the page ends before this record, or is the first.
      const isOver = items.length > 1 && characters > size.bytes;
      if (isOver || items.length > size.limit) break;
    }
    const page = cutPage(items, size, position);
    if (page.next !== undefined) return page;
  }
  return cutPage(items, size, position);
}
