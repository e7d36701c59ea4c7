import type { Version } from '../../../domain/records/record.ts';

/** How much of a record a representation has. Each has tags of its own (RFC 9110, section 8.8.3). */
export type View = 'full' | 'public';

/** The strong entity tag of a version (RFC 9110, section 8.8.3). */
export function entityTag(version: Version, view: View = 'full'): string {
  return view === 'full' ? `"${version}"` : `"${version}-${view}"`;
}

/** An entity tag as a client sent it. */
export interface EntityTag {
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
export function versionOf({ opaque }: EntityTag, view: View = 'full'): Version | undefined {
  const [, digits, of = 'full'] = /^([1-9]\d{0,15})(?:-(public))?$/.exec(opaque) ?? [];
  if (digits === undefined || of !== view) return undefined;
  const version = Number(digits);
  return Number.isSafeInteger(version) ? version : undefined;
}
