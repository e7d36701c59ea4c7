/**
 * `traceparent` (W3C Trace Context): version, trace id, parent id, flags. A later version may have
 * more behind them.
 */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** The id of the trace that a request is part of; undefined where the header is none or malformed. */
export function traceIdFrom(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, rest] = form.exec(header) ?? [];
  return version === '00' && rest !== undefined ? undefined : traceId;
}
