import type { Precondition, Versions } from '../../../domain/records/precondition.ts';
import type { Version } from '../../../domain/records/record.ts';
import type { Context } from '../context.ts';
import { Problem } from '../problems/problem.ts';

/** How much of a record a representation has. Each has tags of its own (RFC 9110, section 8.8.3). */
export type View = 'full' | 'public';

/** The strong entity tag of a version (RFC 9110, section 8.8.3). */
export function entityTag(version: Version, view: View = 'full'): string {
  return view === 'full' ? `"${version}"` : `"${version}-${view}"`;
}

/** An entity tag as a client sent it. */
interface EntityTag {
  readonly weak: boolean;
  readonly opaque: string;
}

const tag = String.raw`(?:W/)?"[!#-~\u0080-\u00ff]*"`;

/** Entity tags with commas between them. Members can be empty (RFC 9110, section 5.6.1.2). */
const tagList = `[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*`;
const entityTags = new RegExp(`^${tagList}$`);

/** What {@link parseEntityTags} reads, as the source of a regular expression. */
export const entityTagsPattern = `^(?:\\*|${tagList})$`;

/**
 * Reads `If-Match` or `If-None-Match`: `*`, or entity tags.
 *
 * @returns undefined if it is malformed
 */
export function parseEntityTags(header: string): readonly EntityTag[] | '*' | undefined {
  if (header === '*') return header;
  if (!entityTags.test(header)) return undefined;
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, opaque = '']) => ({
    weak: weak !== undefined,
    opaque,
  }));
}

/**
 * The version that a tag names.
 *
 * @returns undefined for a tag that isn't ours or belongs to another view: it matches nothing
 */
function versionOf({ opaque }: EntityTag, view: View = 'full'): Version | undefined {
  const [, digits, of = 'full'] = /^([1-9]\d{0,15})(?:-(public))?$/.exec(opaque) ?? [];
  if (digits === undefined || of !== view) return undefined;
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}

/** The precondition of a change (RFC 9110, section 13.1). The headers have already been validated. */
export function preconditionOf({ headers, state }: Context): Precondition {
  const { 'if-match': only, 'if-none-match': except } = headers;
  return {
    only: only === undefined ? undefined : strongVersions(only),
    except: except === undefined ? undefined : weakVersions(except),
    required: state.rostrum.settings.requireIfMatch,
  };
}

/**
 * Evaluates the preconditions of a read: `If-Match` first, then `If-None-Match` (RFC 9110, section 13.2.2).
 * Returns true if the client has this version already.
 *
 * @throws Problem `version-mismatch`
 */
export function isNotModified({ headers }: Context, version: Version, view: View): boolean {
  const { 'if-match': only, 'if-none-match': except } = headers;
  if (only !== undefined && !matches(strongVersions(only, view), version)) {
    throw versionMismatch(only, entityTag(version, view));
  }
  return except !== undefined && matches(weakVersions(except, view), version);
}

function matches(versions: Versions, version: Version): boolean {
  return versions === 'any' || versions.includes(version);
}

/** `If-Match` uses the strong comparison: a weak tag never matches (section 8.8.3.2). */
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

/** @param tag the entity tag of the current version */
export function versionMismatch(ifMatch: string | undefined, tag: string): Problem {
  const sentence = 'The version of the record does not meet the precondition.';
  const hint =
    'A weak entity tag (W/"…") in If-Match never matches; compression by a proxy makes tags weak.';
  const tags = ifMatch === undefined ? [] : parseEntityTags(ifMatch);
  const isWeak = Array.isArray(tags) && tags.some(({ weak }) => weak);
  return new Problem('version-mismatch', isWeak ? `${sentence} ${hint}` : sentence, {
    headers: { ETag: tag },
  });
}
