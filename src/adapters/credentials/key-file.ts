import { hash, randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { type Caller, type Scope, scopes } from '../../domain/access/caller.ts';
import { instantFromMs, isInstant } from '../../domain/records/instant.ts';
import { isPlainObject } from '../../domain/records/json.ts';
import { type Logger, safeLogger } from '../../ports/logger.ts';
import type { Authentication, TokenVerifier } from '../../ports/token-verifier.ts';
import { CredentialsError } from './errors.ts';

/** A key, as stored in a line of the file. */
export interface KeyRecord {
  readonly id: string;
  /** SHA-256 of the token in hexadecimal: a token has 256 random bits, so one round is enough. */
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** The label of the key; not unique. */
  readonly name?: string | undefined;
  /** The instant when the key was created. */
  readonly created?: string | undefined;
  /** The id of the user that the key acts for. */
  readonly subject?: string | undefined;
  /** The instant when the key expires. */
  readonly expires?: string | undefined;
}

/** The line that revokes a key. */
interface Revocation {
  readonly id: string;
  readonly revoked: true;
}

/** The prefix of every token. */
const keyForm = 'rk_';

const idForm = /^[A-Za-z0-9-]{1,32}$/;

/** A name of one line. */
const nameForm = /^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u;

/** Returns true for a valid label. */
export function isKeyName(name: unknown): name is string {
  return typeof name === 'string' && nameForm.test(name) && name.trim() === name;
}

/** Interval between two checks for changes of the file, in milliseconds. */
const checkMs = 1000;

/** A key, prepared for lookups. */
interface Key {
  /** The prefix of its token. If the id in the line was edited, the token no longer matches. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly caller: Caller;
}

/**
 * The keys in a file of JSON lines. The file is append-only: a line adds a key or revokes one, so commands
 * need no lock. Reloads the file when it has changed. If the new version is broken, logs an error and keeps
 * the keys.
 */
export class KeyFile implements TokenVerifier {
  readonly #path: string;
  readonly #logger: Logger;
  /** By the SHA-256 of their tokens, in hexadecimal. */
  #keys: ReadonlyMap<string, Key>;
  #state: string;
  #checkedAt = performance.now();

  /** @throws CredentialsError */
  constructor(path: string, logger?: Logger) {
    this.#path = path;
    this.#logger = safeLogger(logger);
    this.#state = stateOf(path);
    this.#keys = this.#load();
  }

  known(token: string): Caller | undefined {
    const found = this.authenticate(token);
    return found === undefined || 'refused' in found ? undefined : found;
  }

  authenticate(token: string): Authentication {
    if (!token.startsWith(keyForm)) return undefined;
    this.#refresh();
    // The timing of a lookup can reveal a digest at most, and a digest does not yield its token.
    const key = this.#keys.get(digest(token));
    if (key === undefined || !token.startsWith(key.prefix)) return { refused: 'key' };
    return Date.now() < key.expires ? key.caller : { refused: 'exp' };
  }

  #refresh(): void {
    const now = performance.now();
    if (now - this.#checkedAt < checkMs) return;
    this.#checkedAt = now;
    const state = stateOf(this.#path);
    if (state === this.#state) return;
    this.#state = state;
    try {
      this.#keys = this.#load();
      this.#logger.info({ keys: this.#keys.size }, 'Reloaded the key file.');
    } catch (err) {
      this.#logger.error({ err }, 'Cannot reload the key file. The keys stay as they were.');
    }
  }

  #load(): ReadonlyMap<string, Key> {
    const { keys, unfinished } = readKeys(this.#path);
    if (unfinished !== '') {
      this.#logger.warn({}, 'The last line of the key file does not count: it has no line feed.');
    }
    return prepared(keys);
  }
}

function prepared(records: ReadonlyMap<string, KeyRecord>): ReadonlyMap<string, Key> {
  return new Map(
    [...records].map(([id, { sha256, subject = null, scopes: given, expires, name: label }]) => {
      const called = label !== undefined && { label };
      const caller = { name: `key:${id}`, subject, scopes: new Set(given), ...called };
      const until = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
      return [sha256, { prefix: prefixOf(id), expires: until, caller: Object.freeze(caller) }];
    }),
  );
}

/**
 * Adds a key to a file, which is created if there is none.
 *
 * @returns the key and its token, which is not in the file
 * @throws CredentialsError for a file that a server would refuse
 */
export function addKey(
  path: string,
  given: Pick<KeyRecord, 'scopes' | 'name' | 'subject' | 'expires'>,
): { readonly token: string; readonly key: KeyRecord } {
  const id = randomBytes(6).toString('hex');
  const token = `${prefixOf(id)}${randomBytes(32).toString('base64url')}`;
  const { scopes, name, subject, expires } = given;
  const created = instantFromMs(Date.now());
  const key: KeyRecord = { id, sha256: digest(token), scopes, name, created, subject, expires };
  append(path, key);
  return { token, key };
}

/** Returns the keys of a file without the revoked ones. @throws CredentialsError */
export function listKeys(path: string): readonly KeyRecord[] {
  return [...readKeys(path).keys.values()];
}

/**
 * Revokes a key.
 *
 * @returns false if there is no key with this id, or it is revoked already
 * @throws CredentialsError for a file that a server would refuse
 */
export function revokeKey(path: string, id: string): boolean {
  const isThere = readKeys(path).keys.has(id);
  if (isThere) append(path, { id, revoked: true });
  return isThere;
}

/**
 * Appends a line to the file by one write, which the system does not mix with those of other commands.
 *
 * @throws CredentialsError if the last line is cut off, after a full disk for example: a line appended to it
 *   would be lost
 */
function append(path: string, line: KeyRecord | Revocation): void {
  const unfinished = existsSync(path) ? readKeys(path).unfinished : '';
  if (unfinished !== '' && parseLine(unfinished) === undefined) {
    throw new CredentialsError(`The last line of the key file ${path} is cut off: remove it.`);
  }
  const start = unfinished === '' ? '' : '\n';
  appendFileSync(path, `${start}${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
}

function prefixOf(id: string): string {
  return `${keyForm}${id}_`;
}

function digest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Changes whenever the file does; empty if there is no file. */
function stateOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path);
    return [ino, size, mtimeMs, ctimeMs].join();
  } catch {
    return '';
  }
}

interface KeyFileContent {
  /** The keys that are not revoked, by their ids. */
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** The text behind the last line feed. It does not count: another command may be writing it. */
  readonly unfinished: string;
}

function readKeys(path: string): KeyFileContent {
  const text = readFile(path);
  // Windows has no permission bits.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o022) !== 0) {
    throw new CredentialsError(
      `Users other than its owner can write to the key file ${path}: run chmod 600 on it.`,
    );
  }
  const lines = text.split('\n');
  const unfinished = lines.pop()?.trim() ?? '';
  return { keys: parseKeys(path, lines), unfinished };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const message =
      (cause as NodeJS.ErrnoException).code === 'ENOENT'
        ? `There is no key file ${path}: make one with rostrum key create.`
        : `The key file ${path} cannot be read.`;
    throw new CredentialsError(message, { cause });
  }
}

function parseKeys(path: string, lines: readonly string[]): ReadonlyMap<string, KeyRecord> {
  const keys = new Map<string, KeyRecord>();
  const digests = new Set<string>();
  const revoked = new Set<string>();
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const line = parseLine(text);
    const wrong = (what: string) =>
      new CredentialsError(`Line ${index + 1} of the key file ${path} ${what}.`);
    if (line === undefined) throw wrong('is neither a key nor a revocation');
    if ('revoked' in line) {
      if (!keys.has(line.id)) throw wrong('revokes a key that no line above it adds');
      revoked.add(line.id);
      continue;
    }
    if (keys.has(line.id)) throw wrong('repeats the id of another key');
    // Revoking one of the two would leave the token valid.
    if (digests.has(line.sha256)) throw wrong('repeats the token of another key');
    keys.set(line.id, line);
    digests.add(line.sha256);
  }
  for (const id of revoked) keys.delete(id);
  return keys;
}

function parseLine(line: string): KeyRecord | Revocation | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value)) return undefined;
  if ('revoked' in value) return readRevocation(value);
  const { id, sha256, scopes: given, name, created, subject, expires, ...rest } = value;
  const isKey =
    Object.keys(rest).length === 0 &&
    typeof id === 'string' &&
    idForm.test(id) &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Array.isArray(given) &&
    given.every((scope) => scopes.includes(scope)) &&
    (name === undefined || isKeyName(name)) &&
    (created === undefined || isInstant(created)) &&
    (subject === undefined || (typeof subject === 'string' && subject !== '')) &&
    (expires === undefined || isInstant(expires));
  return isKey ? { id, sha256, scopes: given, name, created, subject, expires } : undefined;
}

function readRevocation({ id, revoked, ...rest }: object & Partial<Revocation>) {
  const isRight = typeof id === 'string' && revoked === true && Object.keys(rest).length === 0;
  return isRight ? { id, revoked } : undefined;
}
