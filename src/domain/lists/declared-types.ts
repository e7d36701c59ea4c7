import type { Named } from '../fields/custom-fields.ts';
import type {
  DeclaredFields,
  DeclaredType,
  FieldDeclarations,
  SortableType,
} from '../fields/declared-fields.ts';
import type { Json } from '../records/json.ts';
import type { Collection } from '../records/record.ts';
import type { ConditionValues } from './declared-filters.ts';

// Types that follow from a declaration: of records, inputs, filters and sorts. If only its general type is known,
// any name and any value is allowed.

export type FieldsOf<
  Declared extends DeclaredFields,
  Name extends Collection,
> = Name extends keyof Declared ? NonNullable<Declared[Name]> : undefined;

type TypeOf<Declaration> = (Declaration extends { readonly type: infer Type }
  ? Type
  : Declaration) &
  DeclaredType;

interface Values {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly 'text[]': readonly string[];
}

/** The declared fields of a record or an input: null, absent or a value of their type. */
export type DeclaredValues<Fields> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? unknown
    : { readonly [K in keyof Fields]?: Values[TypeOf<Fields[K]>] | null | undefined }
  : unknown;

/** Custom fields as they are stored, with the declared ones. A schema can narrow these. */
export type CustomOf<Custom extends object, Fields> = Custom & DeclaredValues<Fields>;

/** Custom fields as a caller passes them: a field that the schema's input names has the type that it has there. */
export type CustomInputOf<Input extends object, Fields> = Input &
  Omit<DeclaredValues<Fields>, keyof Named<Input>>;

/** The names of declared fields that a list can be sorted by. */
export type DeclaredSortOf<Fields> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? string & NonNullable<unknown>
    : {
        [K in keyof Fields & string]: TypeOf<Fields[K]> extends SortableType ? K : never;
      }[keyof Fields & string]
  : never;

export type DeclaredFilterOf<Fields> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? AnyFilter
    : { readonly [K in keyof Fields]?: ConditionValues[TypeOf<Fields[K]>] | undefined }
  : unknown;

/** Filters by names that are known only at run time. */
export type AnyFilter = Readonly<Record<string, unknown>>;

/** No value has this member, so a declaration that is required to have it does not compile. */
interface DeclarationError<Sentence extends string> {
  readonly 'these declaredFields cannot be used': Sentence;
}

/**
 * `unknown` if all values that the schemas allow have their declared types, otherwise a
 * {@link DeclarationError}: records with other values would be rejected.
 */
export type CheckedDeclarations<
  Declared extends DeclaredFields,
  UserCustom,
  PostCustom,
> = CheckedFields<FieldsOf<Declared, 'users'>, UserCustom, 'user'> &
  CheckedFields<FieldsOf<Declared, 'posts'>, PostCustom, 'post'>;

type CheckedFields<Fields, Custom, Kind extends string> = Fields extends FieldDeclarations
  ? string extends keyof Fields
    ? unknown
    : {
          [K in keyof Fields & string]: Fits<ValueOf<Custom, K>, TypeOf<Fields[K]>> extends true
            ? never
            : DeclarationError<`By its schema, "${K}" of a ${Kind} is not a ${TypeOf<Fields[K]>}.`>;
        }[keyof Fields & string] extends infer Errors
      ? [Errors] extends [never]
        ? unknown
        : Errors
      : never
  : unknown;

/** A field of any arm of a union. */
type ValueOf<T, K extends PropertyKey> = T extends unknown
  ? K extends keyof T
    ? T[K]
    : never
  : never;

/** False for a field that the schema forbids or gives another type. Any JSON is fine: the declaration narrows it. */
type Fits<Value, Type extends DeclaredType> = [Value] extends [never]
  ? false
  : Json extends Value
    ? true
    : [Value] extends [Values[Type] | null | undefined]
      ? true
      : false;
