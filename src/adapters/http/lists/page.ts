import type { Page } from '../../../domain/lists/list.ts';
import type { Collection, Versioned } from '../../../domain/records/record.ts';
import type { Context } from '../context.ts';
import { sendJsonText } from '../send.ts';
import type { ParsedList } from './query.ts';

/** A longer `Link` is omitted, because many clients reject longer headers. */
const maxLinkLength = 8 * 1024;

/** A longer page is a Buffer. */
const shortPage = 64 * 1024;

/** A page of a list, with the authors of its posts if those were asked for. */
interface ListPage extends Page<unknown> {
  readonly users?: readonly Versioned<unknown>[];
}

/** Responds with a page of a list, and where the next one begins. */
export function sendPage<Filter, Sort extends string>(
  ctx: Context,
  collection: Collection,
  { cursorAt, queryAt }: ParsedList<Filter, Sort>,
  { items, next, total, users }: ListPage,
): void {
  const cursor = next && cursorAt(next);
  const link = cursor && `<${ctx.state.rostrum.siteUrl}${ctx.path}?${queryAt(cursor)}>; rel="next"`;
  if (link !== undefined && link.length <= maxLinkLength) ctx.set('Link', link);
  if (total !== undefined) ctx.set('X-Total-Count', String(total));
  const authors = users && `,"users":[${users.map(({ json }) => json).join(',')}]`;
  const count = total === undefined ? '' : `,"total":${total}`;
  const end = `]${authors ?? ''},"next":${JSON.stringify(cursor ?? null)}${count}}\n`;
  sendJsonText(ctx, 200, joinPage(`{"${collection}":[`, items, end));
}

/**
 * Joins the records of a page with commas. A long page is written into a Buffer, without joining the texts
 * first: a page of 2 MiB takes 1.0 ms instead of 2.5.
 */
export function joinPage(
  front: string,
  records: readonly { readonly json: string }[],
  end: string,
): string | Buffer {
  // Each record is a part of its own: V8 would copy a large one to add a comma or a bracket.
  const texts = records.flatMap(({ json }, i) => (i === 0 ? [json] : [',', json]));
  const parts = [front, ...texts, end];
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= shortPage) return parts.join('');
  let bytes = 0;
  for (const part of parts) bytes += Buffer.byteLength(part);
  const whole = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const part of parts) at += whole.write(part, at);
  return whole;
}
