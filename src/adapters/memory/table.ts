import { emailTaken, fieldTaken, type RostrumError } from '../../domain/errors.ts';
import type { DeclaredField } from '../../domain/fields/declared-fields.ts';
import {
  type Condition,
  compareKeys,
  comparePositions,
  type Position,
  type QueryOrder,
  type SortKey,
} from '../../domain/lists/list.ts';
import { declaredValue, type SearchRow, searchRow } from '../../domain/lists/search.ts';
import { copyJson, type Json, type JsonObject } from '../../domain/records/json.ts';
import type { Post } from '../../domain/records/post.ts';
import {
  type Collection,
  type Id,
  pickFields,
  type Version,
  VersionedRecord,
} from '../../domain/records/record.ts';
import { compareText } from '../../domain/records/text.ts';
import type { User } from '../../domain/records/user.ts';
import type { RecordEvent } from '../../ports/event-log.ts';
import type { DeletedId } from '../../ports/transfer.ts';

/** A stored record. Its JSON text takes far less memory than the value. */
export interface Row {
  readonly id: Id;
  readonly version: Version;
  readonly json: string;
  readonly search: SearchRow;
  /** The values of the declared fields; null if absent. */
  readonly declared: JsonObject;
  /** What no other record can have, and the error if one has it. The email address comes first. */
  readonly unique: ReadonlyMap<string, () => RostrumError>;
}

/** The records of one collection by id, and the last versions of deleted ones. Sorts rows on demand. */
export class Table<R extends User | Post> {
  readonly #collection: Collection;
  declared: readonly DeclaredField[];
  readonly #onEvent: (event: RecordEvent) => void;
  readonly #rows = new Map<Id, Row>();
  /** The id of the record that has a unique value. */
  readonly #holders = new Map<string, Id>();
  readonly #deleted = new Map<Id, Version>();
  /** The rows in each order that was requested since the last change. */
  readonly #sorted = new Map<string, readonly Row[]>();

  constructor(
    collection: Collection,
    declared: readonly DeclaredField[],
    onEvent: (event: RecordEvent) => void,
  ) {
    this.#collection = collection;
    this.declared = declared;
    this.#onEvent = onEvent;
  }

  undeclare(name: string): void {
    this.declared = this.declared.filter((field) => field.name !== name);
  }

  get(id: Id): Row | undefined {
    return this.#rows.get(id);
  }

  lastVersion(id: Id): Version | undefined {
    return this.#rows.get(id)?.version ?? this.#deleted.get(id);
  }

  matching(conditions: readonly Condition[]): Row[] {
    return [...this.#rows.values()].filter((row) => matches(row, conditions));
  }

  rowOf(record: R, version: Version): Row {
    const search = searchRow(this.#collection, record);
    const declared: Record<string, Json> = {};
    const unique = new Map<string, () => RostrumError>();
    if (search.emailKey) unique.set(search.emailKey, emailTaken);
    for (const { name, isUnique } of this.declared) {
      declared[name] = Object.hasOwn(record, name) ? copyJson(Reflect.get(record, name)) : null;
      const value = isUnique ? declaredValue(declared, name) : null;
      if (value !== null) unique.set(JSON.stringify([name, value]), () => fieldTaken(name));
    }
    return { id: record.id, version, json: JSON.stringify(record), search, declared, unique };
  }

  /** @throws RostrumError `email-taken`, `field-taken` */
  checkUnique({ id, unique }: Row): void {
    for (const [value, taken] of unique) {
      if ((this.#holders.get(value) ?? id) !== id) throw taken();
    }
  }

  put(row: Row): void {
    const { id, version, unique } = row;
    const before = this.#remove(id);
    this.#rows.set(id, row);
    for (const value of unique.keys()) this.#holders.set(value, id);
    this.#deleted.delete(id);
    if (before?.version === version) return;
    const type = before === undefined ? 'created' : 'updated';
    this.#onEvent({ type, collection: this.#collection, id, version });
  }

  delete({ id, version }: Row): void {
    this.#remove(id);
    this.#deleted.set(id, version);
    this.#onEvent({ type: 'deleted', collection: this.#collection, id, version });
  }

  #remove(id: Id): Row | undefined {
    const row = this.#rows.get(id);
    this.#rows.delete(id);
    for (const value of row?.unique.keys() ?? []) this.#holders.delete(value);
    this.#sorted.clear();
    return row;
  }

  deletedIds(limit: number, after?: Id): DeletedId[] {
    return [...this.#deleted]
      .filter(([id]) => after === undefined || compareText(id, after) > 0)
      .sort(([a], [b]) => compareText(a, b))
      .slice(0, limit)
      .map(([id, lastVersion]) => ({ id, lastVersion }));
  }

  markDeleted(id: Id, lastVersion: Version): void {
    if (this.#rows.has(id) || (this.#deleted.get(id) ?? 0) >= lastVersion) return;
    this.#deleted.set(id, lastVersion);
  }

  /** Returns the rows after a position, or all rows, in order. */
  *rowsAfter(order: QueryOrder, position?: Position): Generator<Row> {
    const rows = this.#inOrder(order);
    let low = 0;
    for (let high = rows.length; position !== undefined && low < high; ) {
      const middle = (low + high) >>> 1;
      const at = positionOf(rows[middle] as Row, order);
      if (comparePositions(at, position, order.direction) > 0) high = middle;
      else low = middle + 1;
    }
    for (let row = rows[low]; row !== undefined; row = rows[++low]) yield row;
  }

  #inOrder(order: QueryOrder): readonly Row[] {
    const { field, declaredType, direction } = order;
    const name = `${declaredType} ${field} ${direction}`;
    let rows = this.#sorted.get(name);
    if (rows === undefined) {
      rows = Array.from(this.#rows.values(), (row) => ({ row, at: positionOf(row, order) }))
        .sort((a, b) => comparePositions(a.at, b.at, direction))
        .map(({ row }) => row);
      this.#sorted.set(name, rows);
    }
    return rows;
  }
}

export function positionOf({ id, search, declared }: Row, order: QueryOrder): Position {
  const { field, declaredType: type } = order;
  if (type === undefined) return { key: search[field] ?? null, id };
  return { key: declaredValue(declared, field), id };
}

export function matches(row: Row, conditions: readonly Condition[]): boolean {
  return conditions.every((condition) => meets(row, condition));
}

function meets({ search, declared }: Row, condition: Condition): boolean {
  const { field, declaredType } = condition;
  const value = declaredType === undefined ? search[field] : declared[field];
  // Undefined if the field's declaration was removed.
  if (value === null || value === undefined) return condition.op === 'isNull';
  switch (condition.op) {
    case 'isNull':
      return false;
    case 'eq':
      return value === condition.value;
    case 'in':
      return condition.value.includes(value as string);
    case 'has':
      return (value as readonly string[]).includes(condition.value);
    case 'from':
      return compareKeys(value as SortKey, condition.value) >= 0;
    case 'before':
      return compareKeys(value as SortKey, condition.value) < 0;
  }
}

export function withFields(row: Row, fields: readonly string[]): Row {
  return { ...row, json: JSON.stringify(pickFields(JSON.parse(row.json), fields)) };
}

/** Returns a fresh copy, which callers may modify. */
export function versionedOf<R>(row: Row): VersionedRecord<R> {
  return new VersionedRecord<R>(row.json, row.version);
}
