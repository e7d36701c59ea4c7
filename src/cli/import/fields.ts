import type { CustomFieldsSchema } from '../../domain/custom-fields.ts';
import { foldedName } from '../../domain/fields.ts';
import { isPlainObject, setMember } from '../../domain/json.ts';
import type { Collection } from '../../domain/record.ts';
import { knownFields, recordLimits, rules } from '../../domain/rules.ts';
import { codePoints } from '../../domain/text.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';
import type { DataFile } from './data-file.ts';
import { parseJson } from './text.ts';

/**
 * Matches columns to known fields, ignoring case, spaces, `_` and `-`. Other columns become custom fields.
 *
 * @returns a function that converts a row. At the first row of CSV, it throws a Failure for columns that no
 * record can have.
 */
export function createMatcher(
  list: Collection,
  { name: file, isCsv = false }: Pick<DataFile, 'name' | 'isCsv'>,
  schema?: CustomFieldsSchema,
) {
  const known = new Map(knownFields[list].map((field) => [foldedName(field), field]));
  let isChecked = !isCsv;
  return (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
    if (!isChecked) checkColumns(file, list, Object.keys(row));
    isChecked = true;
    const made: Record<string, unknown> = {};
    for (const [column, value] of Object.entries(row)) {
      const field = known.get(foldedName(column)) ?? column;
      const name = Object.hasOwn(row, field) || Object.hasOwn(made, field) ? column : field;
      const isCustom = isCsv && !knownFields[list].includes(name);
      // An empty cell means that the record does not have the custom field.
      if (isCustom && value === '') continue;
      setMember(made, name, isCustom ? typed(String(value), typesOf(name, schema)) : value);
    }
    return made;
  };
}

function checkColumns(file: string, list: Collection, columns: readonly string[]): void {
  const there = columns.map(foldedName);
  const required = Object.entries(rules[list]).filter(([, rule]) => !('fallback' in rule));
  const missing = required.find(([field]) => !there.includes(foldedName(field)));
  const long = columns.find((column) => codePoints(column) > recordLimits.keyLength);
  if (missing === undefined && long === undefined) return;
  const problem =
    missing === undefined
      ? `a column whose name is longer than ${recordLimits.keyLength} characters: ${quoted(long)}`
      : `no column for the field "${missing[0]}". Its columns are ${columns.slice(0, 20).map(quoted).join(', ')}`;
  throw new Failure(`${file} has ${problem}. Rename one of its columns, or use --transform FILE.`);
}

/** The types of a custom field in its JSON Schema. */
function typesOf(name: string, schema: CustomFieldsSchema | undefined): readonly unknown[] {
  const { properties } = Object(schema && 'jsonSchema' in schema ? schema.jsonSchema : undefined);
  const property = Object.hasOwn(Object(properties), name) ? properties[name] : undefined;
  return isPlainObject(property) ? [property.type].flat() : [];
}

/** Converts a cell to the type in the schema. Leaves other text as it is, and the schema rejects it. */
function typed(cell: string, types: readonly unknown[]): unknown {
  const { value } = parseJson(cell.toLowerCase());
  const wantsNumber = types.includes('number') || types.includes('integer');
  if (typeof value === 'number' && wantsNumber) return value;
  // SQL writes booleans as 1 and 0.
  const isBoolean = typeof value === 'boolean' || value === 1 || value === 0;
  return isBoolean && types.includes('boolean') ? Boolean(value) : cell;
}
