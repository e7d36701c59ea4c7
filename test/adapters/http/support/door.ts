import type { FetchHandler } from '../../../../src/adapters/http/fetch/handler.ts';
import type { RunningServer } from '../../../../src/adapters/http/index.ts';
import type { RawResponse } from './answer.ts';

/** Whether the app is behind `rostrum/fetch` in this run: HTTP_DOOR=fetch says so. */
export const isFetchDoor = process.env.HTTP_DOOR === 'fetch';

/** The test that runs. */
let current: Mocha.Test | undefined;

if (isFetchDoor) {
  beforeEach(function () {
    current = this.currentTest;
  });
}

/** Leaves out a test that needs a socket. */
function needSocket(): never {
  current?.skip();
  throw new Error('A socket is needed outside of every test.');
}

/** In place of a server where nothing listens. */
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

  async close(): Promise<void> {}

  /** What `exchange` of raw.ts does, as far as a `Request` can be what is sent. */
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
    // What is given twice is one text by now.
    const isTwice = headers.get('authorization')?.includes(', ') === true;
    if (!isPlain || !isWhole || !isRequest || more || isTwice) return needSocket();
    return new Request(url, { method, headers, ...(body.length > 0 && { body }) });
  }
}
