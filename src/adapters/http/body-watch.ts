import type { IncomingMessage } from 'node:http';
import { bodyTooLarge } from './body-form.ts';
import { bodyLimit } from './limits.ts';

/** The client went away before its request was complete: there is nobody to answer. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** What is seen of a body's bytes while somebody else reads it. */
export interface BodyWatch {
  /** Rejects when the body will not come to a good end; else it stays as it is. */
  readonly failed: Promise<never>;
  isUtf8(): boolean;
}

/**
 * Watches the bytes of a body as they come: a parser that turns them into text cannot tell what
 * was not UTF-8, and may wait for ever for a body that was torn off. To be called in the same turn
 * in which the reading begins.
 */
export function watchBody(request: IncomingMessage): BodyWatch {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  let size = 0;
  let valid = true;

  function decode(chunk?: Uint8Array): void {
    try {
      if (valid) decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      valid = false;
    }
  }

  request.on('data', (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > bodyLimit) reject(bodyTooLarge());
    else decode(chunk);
  });
  request.on('end', () => decode());
  request.on('error', (cause) => reject(new RequestAborted('The request failed.', { cause })));
  request.on('close', () => {
    if (!request.complete) reject(new RequestAborted('The request was aborted.'));
  });
  return { failed, isUtf8: () => valid };
}
