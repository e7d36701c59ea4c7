import type { CustomFieldsSchema } from '../../domain/fields/custom-fields.ts';
import { type FieldDeclarations, fieldsIn } from '../../domain/fields/declared-fields.ts';
import { foldedName } from '../../domain/fields/fields.ts';
import { knownFields, recordLimits, rules } from '../../domain/fields/rules.ts';
import { setMember } from '../../domain/records/json.ts';
import type { Collection } from '../../domain/records/record.ts';
import { codePoints } from '../../domain/records/text.ts';
import { Failure } from '../failure.ts';
import { quoted } from '../output.ts';
import { readCell, withoutEscape } from './cells.ts';
import type { DataFile } from './data-file.ts';

/** How many columns are remembered: in JSON, each record can have names of its own. */
const mostColumns = 1000;

/**
 * Matches columns to known and declared fields and those of the schema, ignoring case, spaces, `_` and `-`. Other
 * columns become custom fields. Reads cells of CSV by the types of their fields.
 *
 * `convert` throws an Error if two members match one field; for CSV, a Failure if two columns do, or for
 * columns that no record can have.
 */
export function createMatcher(
  list: Collection,
  { name: file, delimiter }: Pick<DataFile, 'name' | 'delimiter'>,
  schema?: CustomFieldsSchema,
  declared?: FieldDeclarations,
) {
  const types = typesOf(schema, declared);
  const known = knownFields[list];
  const fields = [...types.keys(), ...known];
  const names = new Map([
    ...fields.map((field) => [foldedName(field), field] as const),
    ...fields.map((field) => [field, field] as const), // An exact name goes first.
  ]);
  const matched = new Map<string, string>(); // Fields by column.
  const fieldOf = (column: string) => {
    const name = delimiter ? withoutEscape(column) : column;
    const field = matched.get(column) ?? names.get(name) ?? names.get(foldedName(name)) ?? name;
    if (matched.size < mostColumns) matched.set(column, field);
    return field;
  };
  const read = (field: string, value: unknown) => {
    if (!delimiter) return value;
    const cell = withoutEscape(String(value));
    return known.includes(field) ? cell : readCell(cell, delimiter, types.get(field));
  };
  let isChecked = !delimiter;
  const convert = (row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
    const made: Record<string, unknown> = {};
    const columns = new Map<string, string>(); // By their fields.
    for (const [column, content] of Object.entries(row)) {
      const field = fieldOf(column);
      const other = columns.get(field);
      if (other !== undefined) {
        const both = `for the field ${quoted(field)}: ${quoted(other)} and ${quoted(column)}`;
        if (delimiter) throw unusable(file, `two columns ${both}`);
        throw new Error(`It has two members ${both}.`);
      }
      columns.set(field, column);
      const value = read(field, content);
      if (value !== undefined) setMember(made, field, value);
    }
    if (!isChecked) checkColumns(file, list, columns);
    isChecked = true;
    return made;
  };
  /** True for the name of a known or declared field, or of one of the schema. */
  const isField = (name: string) => names.get(name) === name;
  return { convert, isField, matched };
}

function checkColumns(file: string, list: Collection, columns: ReadonlyMap<string, string>): void {
  const required = Object.entries(rules[list]).filter(([, rule]) => !('fallback' in rule));
  const missing = required.find(([field]) => !columns.has(field));
  const long = [...columns.keys()].find((field) => codePoints(field) > recordLimits.keyLength);
  if (missing !== undefined) {
    const names = [...columns.values()].slice(0, 20).map(quoted).join(', ');
    throw unusable(file, `no column for the field "${missing[0]}". Its columns are ${names}`);
  }
  if (long !== undefined) {
    const limit = `longer than ${recordLimits.keyLength} characters`;
    throw unusable(file, `a column whose name is ${limit}: ${quoted(long)}`);
  }
}

function unusable(file: string, problem: string): Failure {
  const advice = 'Rename one of its columns, or use --transform FILE.';
  return new Failure(`${file} has ${problem}. ${advice}`);
}

const jsonTypes = { text: 'string', number: 'number', boolean: 'boolean', 'text[]': 'array' };

/** Returns the types of JSON that declared fields and the properties of a JSON Schema have, by name. */
function typesOf(schema: CustomFieldsSchema | undefined, declared: FieldDeclarations | undefined) {
  const { properties } = Object(schema && 'jsonSchema' in schema ? schema.jsonSchema : undefined);
  const types = new Map<string, readonly unknown[]>();
  for (const [name, property] of Object.entries(Object(properties))) {
    types.set(name, [Object(property).type ?? 'string'].flat());
  }
  for (const { name, type } of fieldsIn(declared)) types.set(name, [jsonTypes[type]]);
  return types;
}
