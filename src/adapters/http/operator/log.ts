import type { Collection } from '../../../domain/records/record.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { DeleteMode } from '../../../ports/user-repository.ts';
import type { Context, Middleware } from '../context.ts';
import type { Problem } from '../problems/problem.ts';

/** Requests of load balancers. They are logged at the level `debug`. */
const probes: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/** Logs each request when its response has been sent or its client has gone. */
export function logRequests(logger: Logger): Middleware {
  return (ctx, next) => {
    const { req, res, headers } = ctx;
    const { rostrum } = ctx.state;
    const { bytesWritten: before } = req.socket;
    const start = performance.now();
    res.once('close', () => {
      const { operation, problem, refusal } = rostrum;
      const isSent = res.writableFinished;
      const bytes = req.socket.bytesWritten - before;
      const line = {
        ...requestOf(ctx),
        status: isSent ? res.statusCode : undefined,
        aborted: isSent ? undefined : true,
        code: problem?.code,
        fields: problem && fieldsOf(problem),
        reason: refusal,
        bytes: bytes >= 0 ? bytes : undefined, // A mocked socket does not count.
        ms: Math.round((performance.now() - start) * 10) / 10,
        ...clientFields(ctx),
        userAgent: headers['user-agent'] && maskSecrets(headers['user-agent']),
      };
      if (probes.has(operation)) logger.debug?.(line, 'request');
      else logger.info(line, 'request');
    });
    return next();
  };
}

/** The maximum number of invalid fields that a log line names. */
const maxFields = 10;

/** The fields of a record that break a rule: their names, never their values. */
function fieldsOf({ parts: { errors = [] } }: Problem): readonly string[] | undefined {
  const pointers = errors.flatMap((error) =>
    'pointer' in error ? [maskSecrets(error.pointer)] : [],
  );
  return pointers.length === 0 ? undefined : pointers.slice(0, maxFields);
}

export interface AuditedChange {
  readonly collection: Collection;
  readonly id: string;
  /** Absent for a deletion. */
  readonly version?: number;
  /** What was done with the posts of a deleted user. */
  readonly posts?: DeleteMode;
}

/** Logs a change once it is durable, before the response is sent. */
export function logChange(ctx: Context, change: AuditedChange): void {
  const { operation, settings } = ctx.state.rostrum;
  settings.logger?.info({ endpoint: operation, ...change, ...clientFields(ctx) }, 'change');
}

/**
 * Logs requests that failed in the server. While a store is down, every request fails, so warnings of one code
 * are limited. A failure that may have changed something is always logged.
 *
 * An error thrown with a status, such as `ctx.throw(503)`, is logged with the status instead of a code.
 */
export function failureLog(logger: Logger) {
  const warnings = new WarningThrottle();
  return (ctx: Context, { code, cause, message, parts }: Problem, status?: number): void => {
    const outcome = parts.members?.outcome;
    const isWarning = code !== 'internal';
    const omitted = isWarning && outcome !== 'unknown' ? warnings.admit(code) : 0;
    if (omitted === undefined) return;
    const line = {
      ...requestOf(ctx),
      code: status === undefined ? code : undefined,
      status,
      outcome,
      omitted: omitted || undefined,
      ...clientFields(ctx),
      err: cause,
    };
    if (isWarning) logger.warn(line, message);
    else logger.error(line, 'The request failed.');
  };
}

/** For how long a warning is not repeated, in milliseconds. */
const repeatMs = 10_000;

/** When each warning was last written, and how many were omitted since. */
export class WarningThrottle {
  readonly #last = new Map<string, { readonly at: number; omitted: number }>();

  /** Returns the number of warnings omitted since the last one, or undefined to omit this one as well. */
  admit(code: string): number | undefined {
    const last = this.#last.get(code);
    const at = performance.now();
    if (last !== undefined && at - last.at < repeatMs) {
      last.omitted += 1;
      return undefined;
    }
    this.#last.set(code, { at, omitted: 0 });
    return last?.omitted ?? 0;
  }
}

function requestOf(ctx: Context) {
  const { operation } = ctx.state.rostrum;
  return { method: ctx.method, path: maskedPath(ctx), endpoint: operation || undefined };
}

/** The path without the query and anything after a `#`. */
export function maskedPath({ state: { rostrum } }: Context): string {
  const [path = ''] = rostrum.target.path.split('#');
  return maskSecrets(path);
}

function clientFields({ state: { rostrum } }: Context) {
  const { address, caller, requestId, traceId } = rostrum;
  return {
    address,
    caller: caller && maskSecrets(caller.name),
    requestId: maskSecrets(requestId),
    traceId,
  };
}

/**
 * Rostrum's keys and JSON Web Tokens. A path, a user agent or a request id can hold one by mistake, even
 * directly after other characters (`Bearer%20rk_…`).
 */
const secrets =
  /rk_[A-Za-z0-9-]{1,32}_[\w-]+|(?<![\w-])(?:(?!ey[A-L])[\w-])*ey[A-L][\w-]{8,}\.[\w-]{2,}(?:\.[\w-]*)?/g;

/** How many characters of a text are searched for secrets, and how many are logged. */
const [searched, shown] = [2048, 256];

/** Prepares a client's text for the log: shortened, and with secrets masked. */
export function maskSecrets(text: string): string {
  const start = text.slice(0, searched);
  // Most texts have none, and this is the faster search.
  const masked = /rk_|ey[A-L]/.test(start) ? start.replace(secrets, '***') : start;
  return masked.slice(0, shown);
}
