import { SettingError, storeRefused } from './setting-error.ts';
import { reasonOf } from './store-problems.ts';

interface ServerSettings {
  readonly values: { readonly host: string; readonly port: number; readonly store: string };
  readonly said: { readonly host: string; readonly port: string; readonly store: string };
}

/** What went wrong at the start, as a sentence about the setting that is to blame. */
export function explain(error: unknown, { values, said }: ServerSettings): unknown {
  const { host, port, store } = values;
  const code = codeOf(error);
  switch (code) {
    case 'EADDRINUSE':
      return new SettingError(
        `${said.port} is ${port}, and something else listens there on ${host}: ` +
          'choose another with --port, or --port 0 for any free one.',
      );
    case 'EACCES':
      return new SettingError(
        `${said.port} is ${port}, and this user may not listen there: choose one above 1023 with --port.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SettingError(
        `${said.host} is "${host}", and this machine has no such address: ` +
          'choose 127.0.0.1, or 0.0.0.0 for every address, with --host.',
      );
  }
  const reason = reasonOf(error);
  if (reason === undefined) return error;
  return storeRefused(said.store, store, reason);
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
