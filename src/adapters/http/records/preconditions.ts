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
  return {
    only: strongVersions(headers['if-match']),
    except: weakVersions(headers['if-none-match']),
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
  checkPrecondition({ only: strongVersions(headers['if-match']) }, version);
  const known = weakVersions(headers['if-none-match']);
  return known !== undefined && (known === 'any' || known.includes(version));
}

/** `If-Match` compares strongly: a weak tag never matches (section 8.8.3.2). */
function strongVersions(header: string | undefined): Versions | undefined {
  return versions(header, (tag) => !tag.weak);
}

function weakVersions(header: string | undefined): Versions | undefined {
  return versions(header, () => true);
}

function versions(
  header: string | undefined,
  counts: (tag: EntityTag) => boolean,
): Versions | undefined {
  const tags = header === undefined ? undefined : parseEntityTags(header);
  if (tags === undefined || tags === '*') return tags && 'any';
  return tags.filter(counts).flatMap((tag) => versionOf(tag) ?? []);
}
