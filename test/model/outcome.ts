import type { JsonObject } from '../../src/domain/json.ts';

/** What a caller learns of one call, whichever way it was made. Records as plain JSON. */
export type Outcome =
  | { readonly made: JsonObject; readonly version: number; readonly replayed: boolean }
  | { readonly record: JsonObject; readonly version: number }
  | { readonly deleted: true }
  | { readonly records: readonly JsonObject[]; readonly total: number }
  | {
      readonly error: string;
      /** `pointer code`, sorted. */
      readonly issues?: readonly string[];
      readonly posts?: number;
      readonly version?: number;
    };
