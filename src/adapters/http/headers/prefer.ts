/** The form of the response to a write (RFC 7240, section 4.2). Parameters of the preference are ignored. */
const preference =
  /(?:^|,)[ \t]*return[ \t]*=[ \t]*("?)(minimal|representation)\1[ \t]*(?:[,;]|$)/i;

/** Returns the value of `return` in `Prefer`. The first one counts, and other preferences are ignored. */
export function preferredReturn(header: string | string[] = ''): string | undefined {
  return preference.exec(String(header))?.[2]?.toLowerCase();
}
