import { diff3Merge } from 'node-diff3';

/**
 * Merges a text with what was saved elsewhere since `base`, line by line. Lines that one side changed get the change.
 * Lines that both changed are conflicts.
 */
export function merge(base = '', mine = '', theirs = '') {
  const options = { excludeFalseConflicts: true, stringSeparator: '\n' };
  const regions = diff3Merge(mine, base, theirs, options);
  const textWith = (side: 'a' | 'b') =>
    regions.flatMap(({ ok, conflict }) => ok ?? conflict?.[side] ?? []).join('\n');
  return {
    /** The merged text, with my lines in conflicts. */
    mine: textWith('a'),
    /** The merged text, with their lines in conflicts. */
    theirs: textWith('b'),
    conflicts: regions.flatMap(({ conflict }) => conflict ?? []),
  };
}
