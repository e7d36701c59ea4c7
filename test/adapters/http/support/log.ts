import type { LogFields, Logger } from '../../../../src/ports/logger.ts';

export interface LogLine extends LogFields {
  readonly level: string;
  readonly message: string;
}

/** Returns a logger that collects its lines. */
export function keepLog(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: string) => (fields: LogFields, message: string) => {
    const set = Object.entries(fields).filter(([, value]) => value !== undefined);
    lines.push({ ...Object.fromEntries(set), level, message });
  };
  const [debug, info, warn, error] = [at('debug'), at('info'), at('warn'), at('error')];
  return { logger: { debug, info, warn, error }, lines };
}
