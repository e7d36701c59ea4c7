import { isDeclarable } from '../../../domain/fields/declared-fields.ts';
import { foldedName } from '../../../domain/fields/fields.ts';
import type { Collection } from '../../../domain/records/record.ts';
import type { Parameter } from '../endpoint.ts';

/** What to use instead of the parameters of other APIs. Their names are folded. */
const advice: readonly { readonly names: readonly string[]; readonly sentence: string }[] = [
  {
    names: ['page', 'pagenumber', 'pagetoken', 'offset', 'skip', 'after', 'startingafter'],
    sentence: 'Send the "next" of a page as "cursor" to get the page after it.',
  },
  { names: ['perpage', 'pagesize', 'take', 'top'], sentence: 'Use "limit".' },
  {
    names: ['order', 'orderby', 'sortby', 'sortorder'],
    sentence: 'Use "sort" with the name of a field, and "-" in front for descending order.',
  },
  {
    names: ['q', 'query', 'search'],
    sentence:
      'Lists cannot be searched by words. A filter with [startsWith] finds the start of a text.',
  },
  {
    names: ['filter', 'where'],
    sentence: 'Each filter is a parameter of its own, such as createdAt[gte]=….',
  },
  { names: ['select'], sentence: 'Use "fields".' },
];

/** Returns the name without an operator: `views` of `views[gte]`. */
function fieldOf(parameter: string): string {
  return parameter.replace(/\[.*$/s, '');
}

/** Returns a function that says what to do about an unknown parameter of a list, or returns an empty string. */
export function queryHint(
  collection: Collection,
  parameters: readonly Parameter[],
): (name: string) => string {
  const known = Map.groupBy(parameters, ({ name }) => foldedName(fieldOf(name)));
  return (name) => {
    const field = fieldOf(name);
    const folded = foldedName(field.replace(/^\$/, ''));
    const own = known.get(folded);
    const list = own?.find(({ atMost }) => atMost !== undefined)?.name;
    if (list !== undefined)
      return `Use "${list}", and repeat it for several values: ${list}=…&${list}=….`;
    if (own !== undefined) return `Use ${own.map((it) => `"${it.name}"`).join(', ')}.`;
    const usual = advice.find(({ names }) => names.includes(folded));
    if (usual !== undefined) return usual.sentence;
    if (!isDeclarable(collection, field)) return '';
    return `"${field}" is not declared. To filter by it, declare the field, as with --field ${collection}.${field}:text.`;
  };
}
