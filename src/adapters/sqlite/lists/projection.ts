/** Of more fields, which SQLite would take for too deep an expression, the core cuts them out. */
const maxFields = 100;

/** What a list reads of a record, as JSON text. */
export interface Projection {
  readonly sql: string;
  readonly values: readonly string[];
  /** True where only columns are read, and so no row is long. */
  readonly isShort: boolean;
}

/** The whole record. */
export const whole: Projection = { sql: 'record', values: [], isShort: false };

/**
 * The id of a record and the fields that are named: off their columns, or else out of the record, whose
 * values SQLite gives as they are written in it.
 *
 * @param columns the fields, beside the id, and the column (or expression) that has the same value
 * @returns undefined for names that SQLite would not take as they are
 */
export function projection(
  columns: Readonly<Record<string, string>>,
  fields: readonly string[],
): Projection | undefined {
  const known = Object.entries(columns).filter(([name]) => fields.includes(name));
  const others = fields.filter((name) => name !== 'id' && !Object.hasOwn(columns, name));
  if (others.length > maxFields || !others.every(isPlain)) return undefined;
  const members = [
    ...known.map(([name, column]) => `',"${name}":' || json_quote(${column})`),
    ...others.map(() => "coalesce(? || (record -> ?), '')"),
  ];
  return {
    sql: [`'{"id":' || json_quote(id)`, ...members, "'}'"].join(' || '),
    values: others.flatMap((name) => [`,"${name}":`, `$."${name}"`]),
    isShort: others.length === 0,
  };
}

/** Whether JSON and a path (https://www.sqlite.org/json1.html#path_arguments) have a name as it is. */
function isPlain(name: string): boolean {
  return /^[^"\\\p{Control}\p{Surrogate}]+$/u.test(name);
}
