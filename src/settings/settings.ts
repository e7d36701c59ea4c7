/** What a deployment chooses. Each field says what it is when it is left out. */
export interface Settings {
  /** Where records are kept: `memory:`, `sqlite:PATH`, `mongodb://…` or `mongodb+srv://…`. */
  readonly store: string;
  /** Whether PUT, PATCH and DELETE have to say `If-Match`; otherwise 428. */
  readonly requireIfMatch: boolean;
  /** The least severe lines that the log has. */
  readonly logLevel: LogLevel;
}

export const logLevels = ['info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export const defaultSettings: Settings = {
  store: 'sqlite:./data/rostrum.db',
  requireIfMatch: false,
  logLevel: 'info',
};
