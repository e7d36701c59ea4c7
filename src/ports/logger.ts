/** Takes what an operator may want to know. Never given a body, a password or a stored value. */
export interface Logger {
  /** Absent where such lines are not wanted. */
  debug?(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Structured data of a line; an error goes under `err`. */
export type LogFields = Readonly<Record<string, unknown>>;
