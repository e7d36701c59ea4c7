import type { Socket } from 'node:net';

/**
 * Calls `received` with the head of each complete response on a connection. A response without a
 * Content-Length or chunks of JSON is an error.
 */
export function readResponses(
  socket: Socket,
  received: (head: string) => void,
  failed: (error: Error) => void,
): void {
  let early: Buffer = Buffer.alloc(0);
  /** The head of the response whose body is arriving, and how many bytes are missing. */
  let head: string | undefined;
  let missing = 0;
  socket.on('data', (chunk: Buffer) => {
    early = early.length === 0 ? chunk : Buffer.concat([early, chunk]);
    while (early.length > 0) {
      if (head === undefined) {
        const end = early.indexOf('\r\n\r\n');
        if (end < 0) return;
        head = early.toString('latin1', 0, end);
        if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
          const last = early.indexOf('\r\n0\r\n\r\n', end);
          const whole = head;
          head = undefined;
          if (last < 0) return;
          early = early.subarray(last + 7);
          received(whole);
          continue;
        }
        missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
        if (Number.isNaN(missing)) return failed(new Error(`There is no length: ${head}`));
        early = early.subarray(end + 4);
      }
      const part = Math.min(missing, early.length);
      missing -= part;
      early = early.subarray(part);
      if (missing > 0) return;
      const whole = head;
      head = undefined;
      received(whole);
    }
  });
}
