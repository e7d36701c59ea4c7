import type { IncomingHttpHeaders } from 'node:http';
import type { Precondition, Versions } from '../../../domain/precondition.ts';
import type { Version } from '../../../domain/record.ts';
import {
  type EntityTag,
  entityTag,
  parseEntityTags,
  type View,
  versionOf,
} from '../headers/etag.ts';
import { versionMismatch } from '../problems/problem.ts';

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
 * @throws Problem `version-mismatch`
 */
export function isNotModified(
  headers: IncomingHttpHeaders,
  version: Version,
  view: View = 'whole',
): boolean {
  const { 'if-match': only, 'if-none-match': except } = headers;
  if (only !== undefined && !matches(strongVersions(only, view), version)) {
    throw versionMismatch(headers, entityTag(version, view));
  }
  return except !== undefined && matches(weakVersions(except, view), version);
}

function matches(versions: Versions, version: Version): boolean {
  return versions === 'any' || versions.includes(version);
}

/** `If-Match` compares strongly: a weak tag never matches (section 8.8.3.2). */
function strongVersions(header: string, view?: View): Versions {
  return versions(header, (tag) => !tag.weak, view);
}

function weakVersions(header: string, view?: View): Versions {
  return versions(header, () => true, view);
}

function versions(header: string, counts: (tag: EntityTag) => boolean, view?: View): Versions {
  const tags = parseEntityTags(header);
  if (tags === '*') return 'any';
  return (tags ?? []).filter(counts).flatMap((tag) => versionOf(tag, view) ?? []);
}
