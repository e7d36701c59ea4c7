import type { IncomingMessage } from 'node:http';
import { countHeader } from '../headers/count.ts';
import { isHost } from '../headers/grammar.ts';
import { Problem } from '../problems/problem.ts';

/** What HTTP asks of every request and Node's parser lets through. */
export function messageProblem(request: IncomingMessage): Problem | undefined {
  const { httpVersion, headers } = request;
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    const sentence = 'The only expectation that can be met is 100-continue.';
    return new Problem('expectation-failed', sentence);
  }
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('bad-request', 'The versions of HTTP that are spoken here are 1.1 and 1.0.');
  }
  const hosts = countHeader(request, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    // RFC 9112, section 3.2.
    return new Problem('bad-request', 'A request has exactly one Host header.');
  }
  if (headers.host !== undefined && !isHost(headers.host)) {
    return new Problem('bad-request', 'The Host header must be a name or an address, and a port.');
  }
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') {
    // RFC 9112, section 6.1: where the message ends is in doubt.
    return new Problem('bad-request', 'A request of HTTP/1.0 has no transfer coding.');
  }
  if (coding.trim().toLowerCase() === 'chunked') return undefined;
  return new Problem('bad-request', 'The only transfer coding that is known is chunked.');
}
