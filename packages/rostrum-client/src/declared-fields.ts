// The types that follow from the declared fields of a server. They repeat the server's own types; a test
// checks that both agree.

type DeclaredType = 'text' | 'number' | 'boolean' | 'text[]';

type FieldDeclaration =
  | DeclaredType
  | { readonly type: DeclaredType; readonly unique?: boolean | undefined };

/**
 * The declared fields of a server: the `declaredFields` of its store, or the fields that its `--field` names.
 *
 * @typeParam Declared a declaration with known names, which has to fit. This way, an error names the field.
 */
export type DeclaredFields<
  Declared = Record<'users' | 'posts', Readonly<Record<string, FieldDeclaration>>>,
> = {
  readonly [Name in 'users' | 'posts']?:
    | { readonly [K in keyof Declared[Name & keyof Declared]]: FieldDeclaration }
    | undefined;
};

type TypeOf<Declaration> = (Declaration extends { readonly type: infer Type }
  ? Type
  : Declaration) &
  DeclaredType;

/** The values of each type in a record. */
interface Values {
  readonly text: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly 'text[]': readonly string[];
}

/** The declared fields of a record or an input: null, absent or a value of their type. */
export type DeclaredValues<Fields> = Fields extends object
  ? string extends keyof Fields
    ? unknown
    : { readonly [K in keyof Fields]?: Values[TypeOf<Fields[K]>] | null | undefined }
  : unknown;

/** Bounds of a declared field: numbers by size, texts by code point. */
export type Bounds<T> = {
  readonly [Bound in 'gte' | 'gt' | 'lte' | 'lt']?: T | undefined;
};

/** Bounds of a text, or its start, exactly. */
interface TextRange extends Bounds<string> {
  readonly startsWith?: string | undefined;
}

/** The filters of each type. */
interface Filters {
  readonly text: string | TextRange;
  readonly number: number | Bounds<number>;
  readonly boolean: boolean;
  /** Arrays that contain this text, or all of these. */
  readonly 'text[]': string | readonly string[];
}

/** The filters of a list on declared fields. If their names are unknown, any name is allowed. */
export type DeclaredFilters<Fields> = Fields extends object
  ? string extends keyof Fields
    ? Readonly<Record<string, unknown>>
    : { readonly [K in keyof Fields]?: Filters[TypeOf<Fields[K]>] | undefined }
  : unknown;

/** The names of declared fields that a list can be sorted by. */
export type DeclaredSort<Fields> = Fields extends object
  ? string extends keyof Fields
    ? string & NonNullable<unknown>
    : {
        [K in keyof Fields & string]: TypeOf<Fields[K]> extends 'text' | 'number' ? K : never;
      }[keyof Fields & string]
  : never;
