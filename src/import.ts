/**
 * The types of a transform, the module that `rostrum import --transform FILE` calls for each row. They
 * exist at compile time only: use `import type`.
 */

/** A row of CSV, whose cells are texts, or a value from JSON as it is in the file. */
// biome-ignore lint/suspicious/noExplicitAny: Only the author of the transform knows the file.
export type Row = Readonly<Record<string, any>>;

/** A record to add. Members that are not listed here are the record's other fields. */
export interface ImportedRecord {
  /** Names the record within the file. Becomes the record's id with `--keep-ids`. */
  readonly id?: string | number | null | undefined;
  /** Kept with `--keep-ids`. */
  readonly createdAt?: string | null | undefined;
  /** Kept with `--keep-ids`. */
  readonly updatedAt?: string | null | undefined;
  /**
   * A post's author: the id of a user in the file or in the store, or the email address of a user in the
   * file. Addresses in the store need `--match-stored-authors`.
   */
  readonly authorId?: string | number | { readonly email: string } | null | undefined;
  /** Null and undefined make a draft. A post without this member is published now. */
  readonly publishedAt?: string | null | undefined;
  readonly [field: string]: unknown;
}

export interface TransformContext {
  /** Where the row is: `line 18`, counted from 1, or `posts[17]`, counted from 0. */
  readonly place: string;
  /** The path of the file. */
  readonly file: string;
  /** Leaves the row out, for a reason that the summary counts: `return leaveOut('trash')`. */
  leaveOut(reason: string): null;
  /**
   * Reads a time: ISO 8601, SQL (`2013-04-09 18:20:39`), RFC 5322 (`Fri, 30 Mar 2012 11:18:03 +0000`),
   * and seconds or milliseconds since 1970, as numbers or as texts, from 1990 to 2099.
   *
   * @param options.timeZone for a time without an offset: `UTC`, or a name such as `Europe/Berlin`. An
   * ambiguous time, when clocks are set back, means the earlier one. A skipped time moves forward.
   * @returns the time as `createdAt`, `updatedAt` and `publishedAt` take it
   * @throws Error for anything else
   */
  instant(value: unknown, options?: { readonly timeZone?: string | undefined }): string;
}

type Transformed = ImportedRecord | readonly ImportedRecord[] | null;

/**
 * Converts a row to a record, to several, or to none (`null`). If it throws, the row is rejected with
 * the error's message. Rows are transformed in order, each exactly once.
 */
export type Transform = (row: Row, context: TransformContext) => Transformed | Promise<Transformed>;

/**
 * Reads a file or folder in any other format, or from an address. A transform exports it as `read`.
 *
 * @param path the argument of `rostrum import`
 * @returns what a JSON document would contain: `{ users, posts }`, or what `source` expects
 */
// biome-ignore lint/suspicious/noExplicitAny: Only the author of the transform knows the file.
export type Read = (path: string) => any;

/** Finds the lists of a JSON document. A transform exports it as `source`. */
export interface Source {
  // biome-ignore lint/suspicious/noExplicitAny: Only the author of the transform knows the file.
  readonly users?: (document: any) => Iterable<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: Only the author of the transform knows the file.
  readonly posts?: (document: any) => Iterable<unknown>;
}
