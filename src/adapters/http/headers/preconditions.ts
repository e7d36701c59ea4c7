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

/** An entity tag as a client sent it: `"1"` of `W/"1"`, and whether it is weak. */
interface EntityTag {
  readonly weak: boolean;
  readonly tag: string;
}

const tag = String.raw`(?:W/)?"[!#-~\u0080-\u00ff]*"`;

/** Entity tags with commas between them. Members can be empty (RFC 9110, section 5.6.1.2). */
const tagList = `[ \\t,]*${tag}(?:[ \\t]*,[ \\t,]*${tag})*[ \\t,]*`;
const entityTags = new RegExp(`^${tagList}$`);

/** What {@link parseEntityTags} reads, as the source of a regular expression. */
export const entityTagsPattern = `^(?:\\*|${tagList})$`;

/** Reads the entity tags of `If-Match` or `If-None-Match`: none for `*`, and undefined if it is malformed. */
export function parseEntityTags(header: string): readonly EntityTag[] | undefined {
  if (header === '*') return [];
  if (!entityTags.test(header)) return undefined;
  return [...header.matchAll(/(W\/)?("[^"]*")/g)].map(([, weak, tag = '']) => ({
    weak: weak !== undefined,
    tag,
  }));
}

/** The precondition of a change (RFC 9110, section 13.1). The headers have already been validated. */
export function preconditionOf({ headers, state }: Context): Precondition {
  const { 'if-match': only, 'if-none-match': except } = headers;
  return {
    only: only === undefined ? undefined : versionsIn(only, 'strong'),
    except: except === undefined ? undefined : versionsIn(except, 'weak'),
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
  if (only !== undefined && only !== '*' && !tagsIn(only, 'strong').includes(tag)) {
    throw versionMismatch(only, tag);
  }
  return except !== undefined && (except === '*' || tagsIn(except, 'weak').includes(tag));
}

/** The tags that count: `If-Match` uses the strong comparison, in which a weak tag never matches (section 8.8.3.2). */
function tagsIn(header: string, comparison: 'strong' | 'weak'): readonly string[] {
  const tags = parseEntityTags(header) ?? [];
  return tags.flatMap(({ weak, tag }) => (weak && comparison === 'strong' ? [] : [tag]));
}

/** The versions of tags in the full view; other tags match nothing. */
function versionsIn(header: string, comparison: 'strong' | 'weak'): Versions {
  if (header === '*') return 'any';
  const versions = tagsIn(header, comparison).map((tag) =>
    Number(/^"([1-9]\d{0,15})"$/.exec(tag)?.[1]),
  );
  return versions.filter(Number.isSafeInteger);
}

/** @param tag the entity tag of the current version */
export function versionMismatch(ifMatch: string | undefined, tag: string): Problem {
  const sentence = 'The version of the record does not meet the precondition.';
  const hint =
    'A weak entity tag (W/"…") in If-Match never matches; compression by a proxy makes tags weak.';
  const isWeak = parseEntityTags(ifMatch ?? '')?.some(({ weak }) => weak);
  return new Problem('version-mismatch', isWeak ? `${sentence} ${hint}` : sentence, {
    headers: { ETag: tag },
  });
}
