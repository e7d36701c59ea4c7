import type { IncomingMessage } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/**
 * Notes that the client waits for `100 Continue` before it sends its body (RFC 9110, section
 * 10.1.1), so that a body that is refused by its headers is never sent.
 */
export function noteExpectation(request: IncomingMessage): void {
  waiting.add(request);
}

/** True, once, when the client has to be told to go on. */
export function takeExpectation(request: IncomingMessage): boolean {
  return waiting.delete(request);
}
