import type { IncomingMessage } from 'node:http';
import { Problem } from '../problems/problem.ts';
import { isHost } from '../target.ts';
import { countHeader } from './count.ts';

/** Returns a problem if a request breaks an HTTP rule that Node's parser does not enforce. */
export function messageProblem(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers } = request;
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    return new Problem('expectation-failed', 'The only supported expectation is 100-continue.');
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('bad-request', 'The supported versions of HTTP are 1.1 and 1.0.');
  }
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    // RFC 9112, section 3.2.
    return new Problem('bad-request', 'A request needs exactly one Host header.');
  }
  if (headers.host !== undefined && !isHost(headers.host)) {
    const sentence = 'The Host header must be a name or an address, with or without a port.';
    return new Problem('bad-request', sentence);
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') {
    // RFC 9112, section 6.1: the end of such a message is ambiguous.
    return new Problem('bad-request', 'An HTTP/1.0 request cannot have a transfer coding.');
  }
  if (coding.trim().toLowerCase() === 'chunked') return undefined;
  return new Problem('bad-request', 'The only supported transfer coding is chunked.');
}
