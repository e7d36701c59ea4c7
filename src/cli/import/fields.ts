import type { CustomFieldsSchema } from '../../domain/custom-fields.ts';
import { isPlainObject, setMember } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { knownFields, recordLimits, rules } from '../../domain/rules.ts';
import { codePoints } from '../../domain/text.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';

/**
 * Matches columns to known fields, ignoring case, spaces, `_` and `-`. Other columns become custom fields.
 *
 * @returns a function that converts a row. At the first row of CSV, it throws a Failure if a required column
 * is missing.
 */
export function createMatcher(
  list: Collection,
  { name: file, isCsv = false }: { readonly name: string; readonly isCsv?: boolean },
  schema?: CustomFieldsSchema,
) {
  const known = new Map(knownFields[list].map((field) => [folded(field), field]));
  let isChecked = !isCsv;
  return (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
    if (!isChecked) checkColumns(file, list, Object.keys(row));
    isChecked = true;
    const made: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      const field = known.get(folded(column)) ?? column;
      const name = Object.hasOwn(row, field) || Object.hasOwn(made, field) ? column : field;
      const isCustom = isCsv && !knownFields[list].includes(name);
      // An empty cell means that the record does not have the custom field.
      if (isCustom && value === '') continue;
      setMember(made, name, isCustom ? typed(String(value), typeOf(name, schema)) : value);
    }
    return made;
  };
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

function checkColumns(file: string, list: Collection, columns: readonly string[]): void {
  const there = columns.map(folded);
  const missing = Object.entries(rules[list]).find(([field, rule]) => {
    return !('fallback' in rule) && !there.includes(folded(field));
  });
  if (missing !== undefined) {
    const names = columns.slice(0, 20).map(quoted).join(', ');
    throw new Failure(
      `${file} has no column for the field "${missing[0]}". Its columns are ${names}. ` +
        'Rename one of them, or use --transform FILE.',
    );
  }
  const long = columns.find((column) => codePoints(column) > recordLimits.keyLength);
  if (long === undefined) return;
  throw new Failure(
    `${file} has a column whose name is longer than ${recordLimits.keyLength} characters: ` +
      `${quoted(long)}. Shorten it, or use --transform FILE.`,
  );
}

/** The type of a custom field in its JSON Schema. */
function typeOf(name: string, schema: CustomFieldsSchema | undefined): unknown {
  const { properties } = Object(schema && 'jsonSchema' in schema ? schema.jsonSchema : undefined);
  const property = Object.hasOwn(Object(properties), name) ? properties[name] : undefined;
  return isPlainObject(property) ? property.type : undefined;
}

/** Converts a cell to the type in the schema. Leaves other text as it is, and the schema rejects it. */
function typed(cell: string, type: unknown): unknown {
  const [text, types] = [cell.trim(), [type].flat()];
  if (types.includes('boolean') && /^(?:true|1)$/i.test(text)) return true;
  if (types.includes('boolean') && /^(?:false|0)$/i.test(text)) return false;
  // Only numbers as in JSON, because 010 and 1,000 are ambiguous.
  const isNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text);
  const wantsNumber = types.includes('number') || types.includes('integer');
  return isNumber && wantsNumber ? Number(text) : cell;
}
