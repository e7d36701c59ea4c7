import type { FetchHandler } from '../../../../src/adapters/http/fetch/handler.ts';
import type { RunningServer } from '../../../../src/adapters/http/index.ts';
import type { RawResponse } from './answer.ts';

/** Whether this run calls the app through `rostrum/fetch` instead of a server: HTTP_TRANSPORT=fetch. */
export const isFetchTransport = process.env.HTTP_TRANSPORT === 'fetch';

/** The current test. */
let current: Mocha.Test | undefined;

if (isFetchTransport) {
  beforeEach(function () {
    current = this.currentTest;
  });
}

/** Skips the current test, because it needs a socket. */
function needSocket(): never {
  current?.skip();
  throw new Error('A socket is needed outside a test.');
}

/** Takes the place of the server. Nothing listens. */
export class NoServer implements RunningServer {
  readonly url = 'http://127.0.0.1:3000';
  readonly #handle: FetchHandler;

  constructor(handle: FetchHandler) {
    this.#handle = handle;
  }

  get address(): never {
    return needSocket();
  }

  get connections(): never {
    return needSocket();
  }

  replaceApp(): never {
    return needSocket();
  }

  async close(): Promise<void> {}

  /** Works like `exchange` in raw.ts if the bytes can be expressed as a `Request`. */
  async exchange(text: string): Promise<RawResponse> {
    const response = await this.#handle(this.#read(text));
    const body = await response.text();
    const { status, headers } = response;
    return {
      status,
      headers: new Map(headers),
      text: body,
      body: body.startsWith('{') ? JSON.parse(body) : {},
    };
  }

  #read(text: string): Request {
    const [head = '', ...rest] = text.split('\r\n\r\n');
    const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
    const [first = '', ...lines] = head.split('\r\n');
    const [method = '', target = ''] = first.split(' ');
    const headers = new Headers();
    for (const line of lines) {
      const colon = line.indexOf(':');
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const url = URL.parse(target, this.url);
    const isPlain = url !== null && url.pathname + url.search === target;
    const isWhole = Number(headers.get('content-length')) === body.length;
    const isRequest = headers.has('host') && !/^(?:TRACE|CONNECT)$/.test(method);
    const more = ['transfer-encoding', 'expect'].some((name) => headers.has(name));
    // Headers has joined duplicates into one value.
    const isTwice = headers.get('authorization')?.includes(', ') === true;
    if (!isPlain || !isWhole || !isRequest || more || isTwice) return needSocket();
    return new Request(url, { method, headers, ...(body.length > 0 && { body }) });
  }
}
