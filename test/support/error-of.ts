/** Returns the error of a call, or undefined if it succeeded. */
export function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}
