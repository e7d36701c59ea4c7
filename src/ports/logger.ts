/** Receives the lines of an operator's log. They never contain a body, a password or a stored value. */
export interface Logger {
  /** Leave it out to skip lines at this level. */
  debug?(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Structured data of a line; an error goes under `err`. Leave out undefined members, as `JSON.stringify` does. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Returns a logger that never throws, for code whose own work must go on when a host's logger fails. Drops
 * the line when the host's logger throws, rejects a promise, lacks the method, or is absent.
 */
export function safeLogger(logger: Logger | undefined): Logger {
  const at = (level: keyof Logger) => (fields: LogFields, message: string) => {
    try {
      const result: unknown = logger?.[level]?.(fields, message);
      if (result !== undefined) Promise.resolve(result).catch(() => {}); // Of an asynchronous logger.
    } catch {
      // See above.
    }
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
