import type Koa from 'koa';
import type { Logger } from '../../ports/logger.ts';

/** Errors of a connection that its client ended: nothing that anybody could mend. */
const goneCodes = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

/**
 * Takes what an app reports: what happens outside of every handler, such as while an answer is
 * being sent, and every failure where there is no logger. That goes to standard error, by Koa.
 */
export function handleAppErrors(app: Koa, logger: Logger | undefined): void {
  app.on('error', (error: Error) => {
    if ('code' in error && goneCodes.has(String(error.code))) return;
    if (logger) logger.error({ err: error }, 'An answer could not be sent.');
    else app.onerror(error);
  });
}
