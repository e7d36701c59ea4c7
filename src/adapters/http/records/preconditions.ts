import type { IncomingHttpHeaders } from 'node:http';
import {
  checkPrecondition,
  type Precondition,
  type Versions,
} from '../../../domain/precondition.ts';
import type { Version } from '../../../domain/record.ts';
import { type EntityTag, parseEntityTags, versionOf } from '../headers/etag.ts';

/**
 * What the conditional headers ask of a change (RFC 9110, section 13.1). They are well-formed:
 * that was checked before.
 */
export function preconditionOf(headers: IncomingHttpHeaders, required: boolean): Precondition {
  const { 'if-match': only, 'if-none-match': except } = headers;
  return {
    only: only === undefined ? undefined : strongVersions(only),
    except: except === undefined ? undefined : weakVersions(except),
    required,
  };
}

/**
 * What the conditional headers mean for a record that is read: `If-Match` first, then
 * `If-None-Match` (RFC 9110, section 13.2.2).
 *
 * @returns true when the client has this version already
 * @throws RostrumError `version-mismatch`
 */
export function isNotModified(headers: IncomingHttpHeaders, version: Version): boolean {
  const { 'if-match': only, 'if-none-match': except } = headers;
  if (only !== undefined) checkPrecondition({ only: strongVersions(only) }, version);
  if (except === undefined) return false;
  const known = weakVersions(except);
  return known === 'any' || known.includes(version);
}

/** `If-Match` compares strongly: a weak tag never matches (section 8.8.3.2). */
function strongVersions(header: string): Versions {
  return versions(header, (tag) => !tag.weak);
}

function weakVersions(header: string): Versions {
  return versions(header, () => true);
}

function versions(header: string, counts: (tag: EntityTag) => boolean): Versions {
  const tags = parseEntityTags(header);
  return tags === '*' ? 'any' : (tags ?? []).filter(counts).flatMap((tag) => versionOf(tag) ?? []);
}
