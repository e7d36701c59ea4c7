import type { IncomingMessage } from 'node:http';
import type { LogFields, Logger } from '../../../ports/logger.ts';
import { type ClientAddress, clientAddresses } from '../access/client-address.ts';
import { Cors } from '../access/cors.ts';
import { logged } from '../operator/mask.ts';
import { type Problem, problemResponse } from '../problems/problem.ts';
import { requestIdFrom } from '../request/request-id.ts';
import { publicBase } from '../request/target.ts';
import { commonHeaders, type Response } from '../response.ts';
import type { ServeOptions } from './options.ts';

/** Responds to what is refused before the app sees it. Its connection ends with the response. */
export class Refusals {
  readonly #logger: Logger | undefined;
  readonly #metrics: ServeOptions['metrics'];
  readonly #cors: Cors;
  readonly #addressOf: ClientAddress;
  readonly #problems: string | undefined;

  /** @throws TypeError for an option that cannot be used */
  constructor({ logger, metrics, cors, publicUrl, trustedProxies }: ServeOptions) {
    this.#logger = logger;
    this.#metrics = metrics;
    this.#cors = new Cors(cors);
    this.#addressOf = clientAddresses(trustedProxies);
    const base = publicBase(publicUrl);
    this.#problems = base && `${base}/problems`;
  }

  /**
   * Logs and counts a refusal, and makes the response with all of its headers.
   *
   * @param request what is known of it
   * @param fields what else the log has
   */
  refuse(
    problem: Problem,
    request: Pick<IncomingMessage, 'headers' | 'socket'>,
    fields: LogFields,
  ): Required<Response> {
    const { status, code } = problem;
    const requestId = requestIdFrom(request.headers['x-request-id']);
    const address = this.#addressOf(request);
    this.#metrics?.problem(code);
    this.#logger?.info(
      { ...fields, status, code, address, requestId: logged(requestId) },
      'refused',
    );
    const response = problemResponse(problem, requestId, this.#problems);
    const { headers, body, type } = response;
    const all = [
      ...[...headers, ...this.#cors.headersFor(request), ...commonHeaders(requestId)],
      ...['Content-Type', type, 'Content-Length', String(Buffer.byteLength(body))],
      ...['Connection', 'close'],
    ];
    return { ...response, headers: all };
  }
}
