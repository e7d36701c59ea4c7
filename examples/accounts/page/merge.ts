/** The texts of a form, by the names of its fields. */
export type Texts = Readonly<Record<string, string>>;

/**
 * Merges the texts of a form with what someone else has saved since it was opened. A field that only one of
 * them changed gets the change. A field that both changed keeps the form's text, and is a conflict.
 *
 * @param base the texts as the form was opened with them
 */
export function merge(base: Texts, mine: Texts, theirs: Texts) {
  const texts: Record<string, string> = {};
  const conflicts: string[] = [];
  for (const [name, text = ''] of Object.entries(mine)) {
    const [before, other = ''] = [base[name], theirs[name]];
    texts[name] = text === before ? other : text;
    if (![before, other].includes(text) && other !== before) conflicts.push(name);
  }
  return { texts, conflicts };
}
