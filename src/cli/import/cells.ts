import { isNothing } from '../../domain/services/imports.ts';
import { parseJson } from './text.ts';

/** Removes the `'` that the CSV of the admin page has before a formula, and before a real `'`. */
export function withoutEscape(cell: string): string {
  return cell.replace(/^'(?=['=+\-@\t\r＝＋－＠])/, '');
}

/**
 * Reads a cell as a value of one of these types of JSON. Leaves other text as it is, and the rules reject it.
 *
 * @returns undefined if the cell is empty
 */
export function readCell(
  cell: string,
  delimiter: string,
  types: readonly unknown[] = ['string'],
): unknown {
  const isText = types.includes('string');
  if (isText ? cell === '' : isNothing(cell)) return undefined;
  if (types.includes('array') && !isText) return listIn(cell);
  const { value } = parseJson(jsonOf(cell.trim().toLowerCase(), delimiter));
  const wantsNumber = types.includes('number') || types.includes('integer');
  if (typeof value === 'number' && wantsNumber) return value;
  // SQL writes booleans as 1 and 0.
  const isBoolean = typeof value === 'boolean' || value === 1 || value === 0;
  return isBoolean && types.includes('boolean') ? Boolean(value) : cell;
}

/** Where `;` separates cells, `1,5` is a number, and `1.500` is not, because it can be two numbers. */
function jsonOf(text: string, delimiter: string): string {
  if (delimiter !== ';') return text;
  return /^-?[1-9]\d{0,2}\.\d{3}$/.test(text) ? '' : text.replace(',', '.');
}

/** Reads a list such as `a, b`, or an array of JSON. A list with quotation marks can be read in two ways. */
function listIn(cell: string): unknown {
  if (/^\s*[[{]|"/.test(cell)) return parseJson(cell).value ?? cell;
  const texts = cell.split(',').map((text) => text.trim());
  return texts.filter((text) => text !== '');
}
