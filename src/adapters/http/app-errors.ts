import type Koa from 'koa';
import type { Logger } from '../../ports/logger.ts';

/** Errors of a connection that its client ended: nothing that anybody could mend. */
const goneCodes = new Set(['ECONNRESET', 'EPIPE', 'ECANCELED', 'ERR_STREAM_PREMATURE_CLOSE']);

/** What happens outside of every handler, such as while an answer is being sent, to the log. */
export function logAppErrors(app: Koa, logger: Logger): void {
  app.on('error', (error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (!goneCodes.has(code)) logger.error({ err: error }, 'An answer could not be sent.');
  });
}
