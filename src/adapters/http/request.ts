import { randomUUID } from 'node:crypto';
import type { CheckedOptions } from './check-options.ts';
import { clientAddresses } from './client-address.ts';
import { commonHeaders, type Middleware, stopSignals } from './context.ts';
import type { RostrumAppOptions } from './options.ts';
import { Problem } from './problems/problem.ts';
import { maxTargetLength } from './sizes.ts';
import { hostForm, isRepeated, mountPath, parseTarget, type Query } from './target.ts';

/** A client's own `X-Request-Id` that is safe to log and send back. */
const safeRequestId = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * `traceparent` (W3C Trace Context): version, trace id, parent id, flags. Version ff and ids of zeros are invalid, and version
 * 00 ends after the flags.
 */
const traceParent =
  /^(?!ff|00.{54})[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?![^-])/;

const noQuery: Query = new Map();

/** Creates `ctx.state.rostrum`, and sets the headers of every response. */
export function initState(options: CheckedOptions, isWholeSite: boolean): Middleware {
  const { logger, requireIfMatch = false, issuer, prefix, publicUrl } = options;
  const settings = { logger, requireIfMatch, issuer, isWholeSite, prefix };
  const addressOf = clientAddresses(options.trustedProxies);
  return (ctx, next) => {
    const { url, headers } = ctx;
    const { originalUrl = ctx.originalUrl } = ctx.req as { readonly originalUrl?: string };
    const sentId = String(headers['x-request-id'] ?? '');
    const requestId = safeRequestId.test(sentId) ? sentId : randomUUID();
    const target = parseTarget(url);
    const siteUrl = publicUrl ?? (url === originalUrl ? '' : mountPath(url, originalUrl));
    const apiUrl = siteUrl + prefix;
    ctx.state.rostrum = {
      settings,
      requestId,
      hostMatches: ctx.matched?.length ?? 0,
      address: addressOf(ctx.req),
      target,
      host: target.authority ?? headers.host,
      siteUrl,
      apiUrl,
      problemsUrl: `${isWholeSite ? siteUrl : apiUrl}/problems`,
      traceId: traceParent.exec(String(headers.traceparent))?.[1],
      operation: '',
      problem: undefined,
      refusal: undefined,
      caller: undefined,
      authenticatedCaller: undefined,
      releases: [],
      services: undefined,
      query: noQuery,
    };
    ctx.set(commonHeaders(requestId));
    return next();
  };
}

/** During a shutdown, new requests get a 503, except for `/livez`. */
export const rejectDuringShutdown: Middleware = ({ req: { socket }, state: { rostrum } }, next) => {
  if (stopSignals.get(socket)?.aborted !== true || rostrum.target.path === '/livez') return next();
  throw new Problem('shutting-down', 'The server is shutting down; nothing was changed.');
};

/** Rejects a target or a host that the server does not serve: 414, 400, 421. */
export function checkTarget(isOwnHost: RostrumAppOptions['isOwnHost']): Middleware {
  return (ctx, next) => {
    const { target, host } = ctx.state.rostrum;
    if (ctx.originalUrl.length > maxTargetLength) {
      const text = `The path and the query must have at most ${maxTargetLength} characters.`;
      throw new Problem('uri-too-long', text);
    }
    if (!target.isValid) {
      const text = 'The request target is malformed: check its percent-encoding, scheme and host.';
      throw new Problem('invalid-path', text);
    }
    // RFC 9112, section 3.2.
    const { req, headers } = ctx;
    if ((req.httpVersion === '1.1' && headers.host === undefined) || isRepeated(req, 'host')) {
      throw new Problem('bad-request', 'The request must have one Host header.');
    }
    if ([host, headers.host].some((name) => name && !hostForm.test(name))) {
      const text = 'The Host header must be a name or an address, with or without a port.';
      throw new Problem('bad-request', text);
    }
    const name = host?.toLowerCase().replace(/\.?(?::\d*)?$/, '');
    if (name !== undefined && isOwnHost !== undefined && isOwnHost(name) !== true) {
      const text =
        'The Host header names another server. If this is the right one, set its public URL to this host (--public-url).';
      throw new Problem('misdirected-request', text);
    }
    // Routes match the normalized path.
    if (ctx.url !== target.url) ctx.url = target.url;
    return next();
  };
}
