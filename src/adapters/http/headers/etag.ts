import type { Version } from '../../../domain/record.ts';

/** The strong entity tag of a version (RFC 9110, section 8.8.3). */
export function entityTag(version: Version): string {
  return `"${version}"`;
}

/** An entity tag as a client sent it. */
export interface EntityTag {
  readonly weak: boolean;
  readonly opaque: string;
}

/** An entity tag, and the comma or the end behind it. */
const member = /(W\/)?"([!#-~\x80-\xff]*)"[ \t]*(?:,|$)|[ \t]+|,/y;

/**
 * Reads `If-Match` or `If-None-Match`: `*`, or entity tags with commas between them. Empty members
 * are passed over (RFC 9110, section 5.6.1.2).
 *
 * @returns undefined when it is malformed
 */
export function parseEntityTags(header: string): readonly EntityTag[] | '*' | undefined {
  if (header.trim() === '*') return '*';
  const tags: EntityTag[] = [];
  member.lastIndex = 0;
  while (member.lastIndex < header.length) {
    const match = member.exec(header);
    if (match === null) return undefined;
    const [, weak, opaque] = match;
    if (opaque !== undefined) tags.push({ weak: weak !== undefined, opaque });
  }
  return tags.length === 0 ? undefined : tags;
}

/**
 * The version that a tag names.
 *
 * @returns undefined for a tag that is none of ours, and so matches nothing
 */
export function versionOf({ opaque }: EntityTag): Version | undefined {
  if (!/^[1-9]\d{0,15}$/.test(opaque)) return undefined;
  const version = Number(opaque);
  return Number.isSafeInteger(version) ? version : undefined;
}
