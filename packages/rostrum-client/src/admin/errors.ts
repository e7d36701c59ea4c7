// Errors for data providers: by field, and of several changes.
import { type ApiProblem, isApiProblem } from '../problem.ts';
import { tokenErrors } from '../transport.ts';
import type { Key } from './resource.ts';

/** The maximum number of failed changes in a message. */
const maxNamed = 3;

/** One of several changes, which failed or was not attempted. */
export interface FailedChange {
  /** The id of the record, or its index in `createMany`. */
  readonly id: Key;
  readonly cause: ApiProblem | TypeError;
}

/** Some of several changes failed. */
export class PartialFailure extends Error {
  override readonly cause: FailedChange['cause'];
  readonly failed: readonly FailedChange[];

  constructor(
    cause: FailedChange['cause'],
    failed: readonly FailedChange[],
    total: number,
    done: string,
  ) {
    const named = failed.slice(0, maxNamed).map(({ id, cause }) => `${id} (${cause.message})`);
    if (failed.length > maxNamed) named.push(`${failed.length - maxNamed} more`);
    super(`${failed.length} of ${total} records could not be ${done}: ${named.join(', ')}.`);
    this.cause = cause;
    this.failed = failed;
  }
}

/** Returns true for errors that providers translate: not for those of the program's own `token`. */
export function isProviderCause(error: unknown): error is ApiProblem | TypeError {
  return isApiProblem(error) || (error instanceof TypeError && !tokenErrors.has(error));
}

/** Returns the messages of invalid fields by name; a nested field is `address.city`. */
function fieldErrors(problem: ApiProblem): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const entry of problem.errors) {
    if (!('pointer' in entry)) continue;
    const path = entry.pointer.split('/').slice(1);
    const name = path.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
    fields[name] ??= entry.message;
  }
  return fields;
}

/** The data of a framework's error. */
export interface ProviderError {
  readonly message: string;
  /** A TypeError for what the API does not support, or for a value that cannot be sent. */
  readonly cause: ApiProblem | TypeError;
  readonly status: number;
  /** The messages of invalid fields by name. */
  readonly errors: Readonly<Record<string, string>>;
  /** For changes of many records: those that failed. */
  readonly failed?: readonly FailedChange[];
}

function providerErrorOf(cause: ApiProblem | TypeError): ProviderError {
  return isApiProblem(cause)
    ? { message: cause.message, cause, status: cause.status, errors: fieldErrors(cause) }
    : { message: cause.message, cause, status: 400, errors: {} };
}

/**
 * Returns the same methods with errors that a framework understands. Errors thrown by the program's
 * own functions are passed through.
 */
export function withErrors<Methods extends object>(
  methods: Methods,
  errorOf: (failure: ProviderError) => unknown,
): Methods {
  const entries = Object.entries(methods).map(([name, method]) => {
    if (typeof method !== 'function') return [name, method];
    const call = async (...parameters: unknown[]) => {
      try {
        return await method(...parameters);
      } catch (error) {
        if (isProviderCause(error)) throw errorOf(providerErrorOf(error));
        if (!(error instanceof PartialFailure)) throw error;
        const { message, cause, failed } = error;
        throw errorOf({ ...providerErrorOf(cause), message, errors: {}, failed });
      }
    };
    return [name, call];
  });
  return Object.fromEntries(entries);
}
