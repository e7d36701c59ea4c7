/**
 * Of a text that no record has, the first text in the order of code points that one may have and
 * that comes behind it: to be a bound in its place. Undefined for any other text.
 *
 * BSON holds no half of a surrogate pair (the driver would take U+FFFD for it), and an empty text
 * stands for a missing email address.
 */
export function firstBehind(text: string): string | undefined {
  if (text === '') return '\0';
  const half = text.search(/\p{Surrogate}/u);
  return half < 0 ? undefined : `${text.slice(0, half)}\uE000`;
}
