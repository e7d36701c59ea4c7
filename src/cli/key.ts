import { addKey, isKeyName, listKeys, revokeKey } from '../adapters/credentials/index.ts';
import { isId } from '../domain/access/access.ts';
import { scopes as knownScopes, type Scope } from '../domain/access/caller.ts';
import { instantFromMs, parseRfc3339 } from '../domain/records/instant.ts';
import { Failure } from './failure.ts';
import { print, quoted } from './output.ts';

export interface KeyFileOption {
  readonly authKeys: string;
}

export interface NewKey extends KeyFileOption {
  readonly scopes: string;
  readonly name?: string;
  readonly subject?: string;
  readonly expires?: string;
}

/** `rostrum key create`: prints only the token to standard output, so that scripts can read it. */
export function createKeyCommand(options: NewKey): void {
  const { subject, name, authKeys } = options;
  if (name !== undefined && !isKeyName(name)) {
    throw new Failure('--name must be one line of 1 to 100 characters.');
  }
  if (subject !== undefined && !isId(subject)) {
    throw new Failure('--subject must be the id of a user.');
  }
  const scopes = readScopes(options.scopes);
  const own = scopes.find((scope) => scope.endsWith(':own'));
  if (own !== undefined && subject === undefined) {
    throw new Failure(`The scope ${own} needs a user: name the id of the user with --subject.`);
  }
  const given = { scopes, name, subject, expires: readExpiry(options.expires) };
  const { token, key } = addKey(authKeys, given);
  print(token);
  process.stderr.write(`This is the token of key ${key.id}; it is not shown again.\n`);
}

/** `rostrum key list`: prints a table. Names come last, because they can have spaces. */
export function listKeysCommand({ authKeys }: KeyFileOption): void {
  const rows = listKeys(authKeys).map((key) => {
    const { id, created, expires, subject = '-', scopes, name = '-' } = key;
    return [id, minuteOf(created), minuteOf(expires), subject, scopes.join(','), name];
  });
  if (rows.length === 0) return;
  const table = [['ID', 'CREATED', 'EXPIRES', 'SUBJECT', 'SCOPES', 'NAME'], ...rows];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0)));
  for (const row of table) {
    const cells = row.map((cell, i) => cell.padEnd(widths?.[i] ?? 0));
    print(cells.join('  ').trimEnd());
  }
}

/** `2026-11-21T09:30Z` */
function minuteOf(instant: string | undefined): string {
  return instant?.replace(/:\d{2}\.\d+Z$/, 'Z') ?? '-';
}

/** `rostrum key revoke` */
export function revokeKeyCommand(id: string, { authKeys: file }: KeyFileOption): void {
  if (!revokeKey(file, id)) {
    throw new Failure(
      `${file} has no key ${id}, or it is revoked already. rostrum key list shows the keys.`,
    );
  }
  print(`Revoked key ${id}`);
}

function readScopes(text: string): Scope[] {
  return text.split(',').map((part) => {
    const scope = knownScopes.find((one) => one === part.trim());
    if (scope !== undefined) return scope;
    throw new Failure(
      `--scopes has ${quoted(part.trim())}, which is not a scope. Scopes are ${knownScopes.join(', ')}.`,
    );
  });
}

const units = { h: 3_600_000, d: 86_400_000 } as const;

function readExpiry(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  const at =
    count === undefined
      ? parseRfc3339(text.length === '2027-01-01'.length ? `${text}T00:00:00Z` : text)?.ms
      : Date.now() + Number(count) * units[unit as 'h' | 'd'];
  if (at !== undefined && at > Date.now()) return instantFromMs(at);
  throw new Failure('--expires must be a time in the future, such as 90d, 12h or 2027-01-01.');
}
