import { hash } from 'node:crypto';
import type { Precondition, Versions } from '../../domain/records/precondition.ts';
import type { Version } from '../../domain/records/record.ts';
import type { Context } from './context.ts';
import { Problem } from './problems/problem.ts';

/** The strong entity tag of a version (RFC 9110, section 8.8.3). */
export function entityTag(version: Version): string {
  return `"${version}"`;
}

/** The entity tag of the public view of a version, with a digest: the server's settings determine which fields are public. */
export function publicTag(version: Version, json: string): string {
  return `"${version}-${hash('sha256', json, 'base64url').slice(0, 8)}"`;
}

const tag = String.raw`(?:W/)?"[!#-~\u0080-\u00ff]*"`;

/** Entity tags with commas between them. Members can be empty (RFC 9110, section 5.6.1.2). */
const tagList = `[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*`;
const entityTags = new RegExp(`^${tagList}$`);

/** What {@link parseEntityTags} reads, as the source of a regular expression. */
export const entityTagsPattern = `^(?:\\*|${tagList})$`;

/** Reads the entity tags of `If-Match` or `If-None-Match`: an empty list for `*`, and undefined if it is malformed. */
export function parseEntityTags(header: string): readonly string[] | undefined {
  if (header === '*') return [];
  return entityTags.test(header) ? (header.match(/(?:W\/)?"[^"]*"/g) ?? []) : undefined;
}

/** The precondition of a change (RFC 9110, section 13.1). The headers have already been validated. */
export function preconditionOf({ headers, state }: Context): Precondition {
  const { 'if-match': only, 'if-none-match': except } = headers;
  return {
    only: only === undefined ? undefined : versionsIn(only, strongTag),
    except: except === undefined ? undefined : versionsIn(except, anyTag),
    required: state.rostrum.settings.requireIfMatch,
  };
}

/**
 * Evaluates the preconditions of a read: `If-Match` first, then `If-None-Match` (RFC 9110, section 13.2.2).
 * Returns true if the client has this version already.
 *
 * @param tag the entity tag of the current version
 * @throws Problem `version-mismatch`
 */
export function isNotModified({ headers }: Context, tag: string): boolean {
  const { 'if-match': only, 'if-none-match': except } = headers;
  // The strong comparison: a weak tag never matches (section 8.8.3.2).
  if (only !== undefined && only !== '*' && !parseEntityTags(only)?.includes(tag)) {
    throw versionMismatch(only, tag);
  }
  if (except === undefined || except === '*') return except === '*';
  const tags = parseEntityTags(except) ?? [];
  return tags.includes(tag) || tags.includes(`W/${tag}`);
}

const strongTag = /^"([1-9]\d{0,15})"$/;
const anyTag = /^(?:W\/)?"([1-9]\d{0,15})"$/;

/** The versions that tags name. A tag of another form, or of another view, matches nothing. */
function versionsIn(header: string, form: RegExp): Versions {
  if (header === '*') return 'any';
  const versions = parseEntityTags(header)?.map((tag) => Number(form.exec(tag)?.[1])) ?? [];
  return versions.filter(Number.isSafeInteger);
}

/** @param tag the entity tag of the current version, if there is a record */
export function versionMismatch(ifMatch: string | undefined, tag: string | undefined): Problem {
  const sentence = 'The version of the record does not meet the precondition.';
  const hint =
    'A weak entity tag (W/"…") in If-Match never matches; compression by a proxy makes tags weak.';
  const isWeak = parseEntityTags(ifMatch ?? '')?.some((tag) => tag.startsWith('W/'));
  return new Problem('version-mismatch', isWeak ? `${sentence} ${hint}` : sentence, {
    headers: tag === undefined ? {} : { ETag: tag },
  });
}
