import type { Page, Position } from '../../../domain/lists/list.ts';
import type { Collection, Versioned } from '../../../domain/records/record.ts';
import { type Context, sendJsonText } from '../context.ts';

/** A longer `Link` is omitted, because many clients reject longer headers. */
const maxLinkLength = 8 * 1024;

/** A page of a list, with the authors of its posts if those were asked for. */
interface ListPage extends Page<unknown> {
  readonly users?: readonly Versioned<unknown>[];
}

/** Responds with a page of a list, and where the next one begins. */
export function sendPage(
  ctx: Context,
  collection: Collection,
  { cursorAt }: { cursorAt(position: Position): string },
  { items, next, total, users }: ListPage,
): void {
  const { siteUrl, target } = ctx.state.rostrum;
  const cursor = next && cursorAt(next);
  if (cursor !== undefined) {
    const query = new URLSearchParams(target.query);
    query.set('cursor', cursor);
    const link = `<${siteUrl}${ctx.path}?${query}>; rel="next"`;
    if (link.length <= maxLinkLength) ctx.set('Link', link);
  }
  if (total !== undefined) ctx.set('X-Total-Count', String(total));
  const authors = users === undefined ? '' : `,"users":[${joined(users)}]`;
  const count = total === undefined ? '' : `,"total":${total}`;
  const end = `${authors},"next":${JSON.stringify(cursor ?? null)}${count}}`;
  sendJsonText(ctx, 200, `{"${collection}":[${joined(items)}]${end}`);
}

function joined(records: readonly Versioned<unknown>[]): string {
  return records.map(({ json }) => json).join(',');
}
