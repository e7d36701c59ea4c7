/**
 * `traceparent` (W3C Trace Context): version, trace id, parent id, flags. Later versions can append
 * fields.
 */
const traceParent =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(-.*)?$/;

/** Returns the trace that a request belongs to. */
export function traceIdFrom(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceId, rest] = traceParent.exec(header) ?? [];
  return version === '00' && rest !== undefined ? undefined : traceId;
}
