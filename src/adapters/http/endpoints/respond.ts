import type { Collection, Versioned } from '../../../domain/records/record.ts';
import { type Context, sendJsonText } from '../context.ts';
import { logChange } from '../operator/log.ts';
import { entityTag, isNotModified } from '../preconditions.ts';

// The responses of the endpoints of users and posts, except lists.

/** Responds with a record, or 304 if the client has this version. */
export function sendRecord(
  ctx: Context,
  { version, json }: Snapshot,
  tag = entityTag(version),
): void {
  const isKnown = isNotModified(ctx, tag);
  ctx.set('ETag', tag);
  sendJsonText(ctx, isKnown ? 304 : 200, isKnown ? null : json);
}

/** A version of a record, as JSON. */
type Snapshot = Pick<Versioned<unknown>, 'version' | 'json'>;

/** Responds to a creation. */
export function sendCreated(
  ctx: Context,
  collection: Collection,
  id: string,
  created: Snapshot & { readonly replayed?: boolean },
): void {
  const { version, json, replayed = false } = created;
  if (!replayed) logChange(ctx, { collection, id, version });
  ctx.set('ETag', entityTag(version));
  ctx.set('Location', `${ctx.state.rostrum.apiUrl}/${collection}/${encodeURIComponent(id)}`);
  if (replayed) ctx.set('Idempotency-Replayed', 'true');
  sendPreferred(ctx, 201, json);
}

/** Responds to a change. */
export function sendChanged(
  ctx: Context,
  collection: Collection,
  id: string,
  { changed, version, json }: Snapshot & { readonly changed: boolean },
): void {
  if (changed) logChange(ctx, { collection, id, version });
  ctx.set('ETag', entityTag(version));
  sendPreferred(ctx, 200, json);
}

/** Responds to a deletion. */
export function sendDeleted(ctx: Context): void {
  sendPreferred(ctx, 200, '{"deleted":true}');
}

/** A preference, in which a quoted string can have commas. */
const preferences = /(?:"(?:[^"\\]|\\.?)*(?:"|$)|[^",])+/g;

/** The form of the response to a write, without parameters (RFC 7240, section 4.2). */
const formOfResponse = /^[ \t]*return[ \t]*=[ \t]*("?)(minimal|representation)\1[ \t]*(?:;|$)/i;

/** Responds without a body if the client prefers that. */
function sendPreferred(ctx: Context, status: 200 | 201, json: string): void {
  const { prefer = '' } = ctx.headers;
  // Only the first one counts (RFC 7240, section 2).
  const first = String(prefer)
    .match(preferences)
    ?.find((one) => /^[ \t]*return[ \t]*(?:[=;]|$)/i.test(one));
  const preferred = formOfResponse.exec(first ?? '')?.[2]?.toLowerCase();
  if (preferred !== undefined) ctx.set('Preference-Applied', `return=${preferred}`);
  if (preferred !== 'minimal') sendJsonText(ctx, status, json);
  else sendJsonText(ctx, status === 200 ? 204 : status, null);
}
