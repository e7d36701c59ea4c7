import type { AbstractCursor } from 'mongodb';
import { cutPage, type Position } from '../../../domain/list.ts';
import type { Bounds, Call } from '../connection/call.ts';
import type { LargeDocuments } from '../connection/large-documents.ts';

/** What a query finds, as the server sends it: up to 16 MiB at once. */
export async function* batches<T>(
  call: Call,
  open: (bounds: Bounds) => AbstractCursor<T>,
): AsyncGenerator<NonNullable<T>[]> {
  let cursor: AbstractCursor<T> | undefined;
  try {
    do {
      yield await call.readPart(async (bounds) => {
        cursor ??= open(bounds);
        return (await cursor.hasNext()) ? cursor.readBufferedDocuments() : [];
      });
    } while (cursor?.closed === false);
  } finally {
    // The server holds an open cursor for the session, which ends after this.
    if (cursor?.closed === false) await call.readPart(async () => cursor?.close()).catch(() => {});
  }
}

/** How many times the bytes of a page its documents may have, at most. */
const mostParsed = 4;

/**
 * Cuts a page off what a query finds, with no more of it parsed than that, and no more of it
 * fetched than the batch that the page ends in.
 */
export async function pageOf<V extends { readonly json: string }>(
  found: AsyncIterable<readonly Uint8Array[]>,
  largeDocuments: LargeDocuments,
  size: { readonly limit: number; readonly bytes: number },
  parse: (bson: Uint8Array) => V,
  position: (record: V) => Position,
): Promise<{ readonly items: V[]; readonly next?: Position }> {
  let items: V[] = [];
  for await (const batch of found) {
    const page = await largeDocuments.hold(batch, async (bytes) => {
      await largeDocuments.turn(Math.min(bytes, mostParsed * size.bytes));
      return cutPage(joined(items, batch, parse), size, position);
    });
    if (page.next !== undefined) return page;
    items = page.items;
  }
  return { items };
}

function* joined<V>(
  before: readonly V[],
  batch: readonly Uint8Array[],
  parse: (bson: Uint8Array) => V,
): Generator<V> {
  yield* before;
  for (const bson of batch) yield parse(bson);
}
