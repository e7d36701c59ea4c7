import type { IncomingMessage } from 'node:http';
import { Problem } from '../problems.ts';

/** What HTTP/1.1 asks of every request and Node's parser lets through. */
export function messageProblem(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers, headersDistinct } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('bad-request', 'The versions of HTTP that are spoken here are 1.1 and 1.0.');
  }
  const hosts = headersDistinct.host ?? [];
  if (hosts.length > 1 || (hosts.length === 0 && httpVersion === '1.1')) {
    // RFC 9112, section 3.2.
    return new Problem('bad-request', 'A request has exactly one Host header.');
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    return new Problem('bad-request', 'The only transfer coding that is known is chunked.');
  }
  return undefined;
}
